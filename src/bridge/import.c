/* A module becomes a program: the other side translates and gives values, this one compares.
 *
 * The module may be anybody's and runs in the box with the translator, so nothing of the answer is
 * believed: the text is parsed as any other, sizes come from it, values are copied. A module that
 * lies about itself only deceives its own importer. */
#include "bridge/bridge_int.h"

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "task/task.h"

#include <math.h>
#include <string.h>

enum { TRANSLATE_SECONDS = 300, LARGEST_MODULE = 1 << 20, THREADS = 1 };

#define AGREEMENT 1e-9        /* of the output's size: both compute in double */
#define AGREEMENT_SINGLE 1e-5 /* where PyTorch does not */
#define LARGEST_CHECK 5e11    /* operations: some minutes */

struct answer {
    struct arena *arena;
    struct bridge__process *process;
    const struct source *source;
    json_t *json;
    struct diags *diags;
};

static enum status
odd(const struct answer *answer, const char *what)
{
    diags_add(answer->diags, DIAG_ERROR, (struct place){answer->source, 0, 0},
              "the answer of PyTorch's process makes no sense: %s", what);
    return STATUS_MACHINE;
}

static const char *
text_of(const struct answer *answer, const char *name)
{
    const char *text = json_string_value(json_object_get(answer->json, name));
    return text != NULL ? arena_strdup(answer->arena, text) : "";
}

/* ---- values ---- */

static bool
same_shape(const struct tensor *tensor, const json_t *shape)
{
    if (json_array_size(shape) != tensor->rank)
        return false;
    for (unsigned d = 0; d < tensor->rank; d++)
        if (json_integer_value(json_array_get(shape, d)) != tensor->size[d])
            return false;
    return true;
}

/* Copies the values that the answer has for a tensor; NULL: it has none that fit. */
static void *
values_of(const struct answer *answer, const json_t *entry, const struct tensor *tensor,
          size_t size)
{
    const char *name = json_string_value(json_object_get(entry, "name"));
    json_int_t offset = json_integer_value(json_object_get(entry, "offset"));
    size_t bytes = (size_t)tensor->count * size;
    if (name == NULL || strcmp(name, tensor->name) != 0 || offset < 0 ||
        !same_shape(tensor, json_object_get(entry, "shape")))
        return NULL;
    void *values = arena_alloc(answer->arena, bytes);
    return bridge__take(answer->process, (size_t)offset, values, bytes) ? values : NULL;
}

static enum status
take_inputs(const struct answer *answer, const struct program *program, void ***inputs)
{
    const json_t *list = json_object_get(answer->json, "inputs");
    *inputs = arena_array(answer->arena, program->input_count + 1, sizeof **inputs);
    if (json_array_size(list) != program->input_count)
        return odd(answer, "it has other inputs than the program");
    for (size_t i = 0; i < program->input_count; i++) {
        const struct tensor *tensor = program->tensors[i];
        (*inputs)[i] =
            values_of(answer, json_array_get(list, i), tensor, dtype_info[tensor->dtype].size);
        if ((*inputs)[i] == NULL)
            return odd(answer, "an input has another shape than the program says");
        const char *name =
            arena_printf(answer->arena, "%s: input %s", answer->source->path, tensor->name);
        enum status status = task_check_input(tensor, name, (*inputs)[i], answer->diags);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* ---- comparing ---- */

/* The largest difference as a part of the output's size; infinite where one side is no number, NaN
 * where none of the two has a number that says something. */
static double
difference_of(const double *ours, const double *theirs, int64_t count)
{
    double largest = 0, size = 0;
    bool compared = false;
    for (int64_t i = 0; i < count; i++) {
        bool same = ours[i] == theirs[i] || (isnan(ours[i]) && isnan(theirs[i]));
        double far = same ? 0 : fabs(ours[i] - theirs[i]);
        largest = far <= largest ? largest : isnan(far) ? INFINITY : far;
        size = isfinite(theirs[i]) && fabs(theirs[i]) > size ? fabs(theirs[i]) : size;
        compared = compared || (isfinite(ours[i]) && isfinite(theirs[i]));
    }
    if (!compared && largest == 0)
        return NAN;
    return size > 0 ? largest / size : largest;
}

static enum status
compare(const struct answer *answer, const struct program *program,
        const struct lang_result *results, double *worst)
{
    const json_t *list = json_object_get(answer->json, "outputs");
    *worst = 0;
    if (json_array_size(list) != program->output_count)
        return odd(answer, "it has other outputs than the program");
    for (size_t i = 0; i < program->output_count; i++) {
        const struct tensor *tensor = program->outputs[i];
        const double *theirs = values_of(answer, json_array_get(list, i), tensor, sizeof *theirs);
        if (theirs == NULL) {
            diags_add(answer->diags, DIAG_ERROR, (struct place){answer->source, 0, 0},
                      "output %s has another shape than PyTorch's", tensor->name);
            return STATUS_NO;
        }
        double far = difference_of(results[i].v, theirs, tensor->count);
        if (isnan(far)) {
            diags_add(answer->diags, DIAG_ERROR, (struct place){answer->source, 0, 0},
                      "every element of %s is NaN or infinite in PyTorch: nothing was compared; "
                      "write a get_inputs() with values that it is defined for",
                      tensor->name);
            return STATUS_NO;
        }
        *worst = far > *worst ? far : *worst;
    }
    return STATUS_OK;
}

static enum status
check_size(const struct answer *answer, const struct program *program)
{
    struct cost cost;
    lang_cost(program, &cost);
    if (cost.flops <= LARGEST_CHECK && task_needed_bytes(program) < 0.9 * task_free_bytes())
        return STATUS_OK;
    diags_add(answer->diags, DIAG_ERROR, (struct place){answer->source, 0, 0},
              "too large to be compared with PyTorch (%.0f GFLOP); give its sizes names at the top "
              "of the module, as in batch_size = 16, so that smaller ones can be tried",
              cost.flops / 1e9);
    return STATUS_NO;
}

static size_t
case_number(struct lang *lang, const char *name)
{
    size_t number = 0;
    while (number + 1 < lang_case_count(lang) && strcmp(lang_case_name(lang, number), name) != 0)
        number++;
    return number;
}

static enum status
check(const struct answer *answer, struct lang *lang, struct bridge_imported *imported)
{
    struct program *program =
        lang_program(lang, case_number(lang, text_of(answer, "case")), NULL, 0, answer->diags);
    void **inputs;
    if (program == NULL)
        return STATUS_INPUT;
    struct lang_result *results =
        arena_array(answer->arena, program->output_count, sizeof *results);
    enum status status = check_size(answer, program);
    if (status == STATUS_OK)
        status = take_inputs(answer, program, &inputs);
    if (status == STATUS_OK)
        status = task_evaluate(answer->arena, program, (const void *const *)inputs, results,
                               answer->diags);
    if (status == STATUS_OK)
        status = compare(answer, program, results, &imported->difference);
    return status;
}

/* ---- the whole ---- */

/* The program as it is given back, and the one that the values are for: mostly the same. */
static enum status
read_programs(const struct answer *answer, struct bridge_imported *imported, struct lang **checked)
{
    struct buf formatted = buf_in(answer->arena);
    const char *text = text_of(answer, "text"), *small = text_of(answer, "check");
    imported->name = text_of(answer, "task");
    const char *path = arena_printf(answer->arena, "%s.op", imported->name);
    enum status status = lang_format(&formatted, path, text, strlen(text), answer->diags);
    if (status != STATUS_OK)
        return status;
    imported->text = formatted.data;
    struct lang *lang =
        lang_parse(answer->arena, path, formatted.data, formatted.length, answer->diags);
    if (lang == NULL || lang_program(lang, 0, NULL, 0, answer->diags) == NULL)
        return STATUS_INPUT;
    *checked = lang;
    imported->checked = text_of(answer, "case");
    if (strcmp(text, small) != 0) {
        *checked = lang_parse(answer->arena, path, small, strlen(small), answer->diags);
        imported->checked = "smaller sizes";
    }
    return *checked != NULL ? STATUS_OK : STATUS_INPUT;
}

static enum status
judge(const struct answer *answer, struct bridge_imported *imported)
{
    struct lang *lang;
    enum status status = read_programs(answer, imported, &lang);
    if (status == STATUS_OK)
        status = check(answer, lang, imported);
    if (status != STATUS_OK)
        return status;
    imported->in_double = json_is_true(json_object_get(answer->json, "double")) &&
                          !json_is_true(json_object_get(answer->json, "single"));
    double allowed = imported->in_double ? AGREEMENT : AGREEMENT_SINGLE;
    if (imported->difference <= allowed)
        return STATUS_OK;
    diags_add(answer->diags, DIAG_ERROR, (struct place){answer->source, 0, 0},
              "the program differs from PyTorch by %.2g of the output's size; its translation is "
              "not to be trusted",
              imported->difference);
    return STATUS_NO;
}

static struct buf
question_of(struct arena *arena, const struct source *source, bool train, uint64_t seed)
{
    struct buf question = buf_in(arena);
    buf_puts(&question, "{\"do\":\"translate\"");
    json_field_string(&question, "path", source->path);
    json_field_string(&question, "text", source->text);
    json_field_string(&question, "mode", train ? "train" : "eval");
    buf_printf(&question, ",\"seed\":%llu}", (unsigned long long)(seed & INT64_MAX));
    return question;
}

enum status
bridge_import(struct arena *arena, const struct bridge_options *options, const char *path,
              bool train, uint64_t seed, struct bridge_imported *imported, struct diags *diags)
{
    struct source *source = arena_alloc(arena, sizeof *source);
    struct answer answer = {.arena = arena, .source = source, .diags = diags};
    struct bridge__place place;
    *imported = (struct bridge_imported){0};
    enum status status = file_read(arena, path, LARGEST_MODULE, source, diags);
    if (status != STATUS_OK)
        return status;
    if (strlen(source->text) != source->length) {
        diags_add(diags, DIAG_ERROR, (struct place){source, 0, 0},
                  "it has a byte that is zero; save it as text in UTF-8");
        return STATUS_INPUT;
    }
    if (!bridge__find(arena, options != NULL ? options->environment : NULL, &place, diags))
        return STATUS_MACHINE;
    status = bridge__start(arena, &place, BRIDGE__BOXED, THREADS, &answer.process, diags);
    if (status != STATUS_OK)
        return status;
    struct buf question = question_of(arena, source, train, seed);
    double seconds = options != NULL && options->seconds > 0 ? options->seconds : TRANSLATE_SECONDS;
    status = bridge__ask(answer.process, &question, seconds, source, &answer.json, diags);
    if (status == STATUS_OK)
        status = judge(&answer, imported);
    json_decref(answer.json);
    bridge__stop(answer.process);
    return status;
}
