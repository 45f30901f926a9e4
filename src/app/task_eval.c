/* hone task --eval: the outputs of a case and the errors a right kernel may make. */
#include "app/task.h"

#include <math.h>
#include <string.h>

#include "app/table.h"
#include "base/file.h"
#include "base/json.h"
#include "base/npy.h"
#include "base/text.h"

/* One output, evaluated. */
struct found {
    const struct lang_result *result;
    const struct tolerance *tolerance;
    double *allowed; /* by element; NaN: unjudged */
    double min, max, mean, largest;
    int64_t unjudged;
};

static void
summarise(struct arena *arena, struct found *found)
{
    int64_t count = found->result->tensor->count;
    const double *v = found->result->v;
    found->allowed = arena_array(arena, (size_t)count, sizeof *found->allowed);
    found->min = INFINITY;
    found->max = -INFINITY;
    for (int64_t at = 0; at < count; at++) {
        double allowed = found->allowed[at] = task_gate(found->result, found->tolerance, at);
        found->min = v[at] < found->min || isnan(v[at]) ? v[at] : found->min;
        found->max = v[at] > found->max || isnan(v[at]) ? v[at] : found->max;
        found->mean += v[at] / (double)count;
        found->unjudged += isnan(allowed);
        found->largest = allowed > found->largest ? allowed : found->largest;
    }
}

/* ---- files ---- */

enum status
task_write_array(struct cli *cli, const char *folder, const char *name, const struct tensor *tensor,
                 double *values)
{
    struct npy array = {.type = "f8",
                        .rank = tensor->rank,
                        .count = tensor->count,
                        .size = sizeof *values,
                        .data = values};
    memcpy(array.shape, tensor->size, tensor->rank * sizeof *array.shape);
    return npy_write(file_join(cli->arena, folder, name), &array, cli->diags);
}

static enum status
write_outputs(struct cli *cli, const char *folder, const struct found *found, size_t count)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct tensor *tensor = found[i].result->tensor;
        status = task_write_array(cli, folder, arena_printf(cli->arena, "%s.npy", tensor->name),
                                  tensor, found[i].result->v);
        if (status == STATUS_OK)
            status = task_write_array(cli, folder,
                                      arena_printf(cli->arena, "%s.tolerance.npy", tensor->name),
                                      tensor, found[i].allowed);
    }
    return status;
}

/* ---- what is shown ---- */

static void
show_table(struct cli *cli, const struct program *program, const struct found *found)
{
    static const char *const headings[] = {"output", "shape",     "min",     "max",
                                           "mean",   "tolerance", "unjudged"};
    struct table table = table_create(cli->arena);
    bool any_k = false;
    for (size_t i = 0; i < program->output_count; i++)
        any_k |= found[i].tolerance->k >= 1.1;
    for (unsigned c = 0; c < 7; c++)
        table_column(&table, headings[c], c < 2);
    if (any_k)
        table_column(&table, "k", false);
    for (size_t i = 0; i < program->output_count; i++) {
        const struct tensor *tensor = found[i].result->tensor;
        struct buf shape = buf_in(cli->arena);
        face_put_shape(&shape, tensor);
        const char *cells[] = {
            tensor->name,
            arena_printf(cli->arena, "%s %s", dtype_info[tensor->dtype].name, shape.data),
            arena_printf(cli->arena, "%.6g", found[i].min),
            arena_printf(cli->arena, "%.6g", found[i].max),
            arena_printf(cli->arena, "%.6g", found[i].mean),
            arena_printf(cli->arena, "%.2g", found[i].largest),
            arena_printf(cli->arena, "%lld", (long long)found[i].unjudged),
            arena_printf(cli->arena, "%.3g", found[i].tolerance->k),
        };
        table_row(&table, cells);
    }
    table_print(&cli->out, &table);
    for (size_t i = 0; i < program->output_count; i++)
        if (found[i].tolerance->ill_posed)
            buf_printf(&cli->out,
                       "  %s is ill-posed: its tolerance exceeds 1 %% of its size, so that right\n"
                       "  and wrong kernels can hardly be told apart on these inputs.\n",
                       found[i].result->tensor->name);
}

static void
show_json(struct cli *cli, const struct program *program, const struct found *found, size_t number)
{
    struct buf *out = &cli->out;
    buf_printf(out, "%s{\"name\":", number > 0 ? "," : "");
    json_put_string(out, program->case_name);
    buf_puts(out, ",\"outputs\":[");
    for (size_t i = 0; i < program->output_count; i++) {
        buf_printf(out, "%s{\"name\":", i > 0 ? "," : "");
        json_put_string(out, found[i].result->tensor->name);
        json_field_number(out, "min", found[i].min);
        json_field_number(out, "max", found[i].max);
        json_field_number(out, "mean", found[i].mean);
        json_field_number(out, "tolerance", found[i].largest);
        json_field_number(out, "unjudged", (double)found[i].unjudged);
        json_field_number(out, "k", found[i].tolerance->k);
        json_field_bool(out, "ill_posed", found[i].tolerance->ill_posed);
        buf_putc(out, '}');
    }
    buf_puts(out, "]}");
}

/* ---- the evaluation ---- */

static enum status
evaluate(struct cli *cli, const struct program *program, void **inputs, uint64_t seed,
         struct found *found)
{
    struct arena *arena = cli->arena;
    size_t count = program->output_count;
    struct lang_result *results = arena_array(arena, count, sizeof *results);
    struct tolerance *tolerances = arena_array(arena, count, sizeof *tolerances);
    const void *const *given = (const void *const *)inputs;
    enum status status = task_evaluate(arena, program, given, results, cli->diags);
    if (status == STATUS_OK)
        status = task_calibrate(arena, program, given, results, seed, tolerances, cli->diags);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        found[i].result = &results[i];
        found[i].tolerance = &tolerances[i];
        summarise(arena, &found[i]);
    }
    return status;
}

/* Where the outputs of a case go, made; *folder is NULL if they go nowhere. */
static enum status
prepare_folder(struct cli *cli, const struct view *view, const struct program *program,
               const char **folder)
{
    *folder = cli_given(cli, "o");
    if (*folder == NULL)
        return STATUS_OK;
    if (view->count > 1)
        *folder = file_join(cli->arena, *folder, program->case_name);
    return file_make_folder(*folder, cli->diags);
}

static void
show(struct cli *cli, const struct program *program, const struct found *found, uint64_t seed)
{
    const char *from = cli_given(cli, "inputs");
    if (from == NULL)
        from = arena_printf(cli->arena, "normal, seed %llu", (unsigned long long)seed);
    buf_printf(&cli->out, "%s, case %s, inputs %s\n", program->name, program->case_name, from);
    show_table(cli, program, found);
}

/* Cases other than this one that fit memory, "a,b"; "" if none does. */
static const char *
others_that_fit(struct cli *cli, const struct view *view, const struct program *program)
{
    struct buf names = buf_in(cli->arena);
    struct diags *ignored = diags_create(cli->arena, 1);
    for (size_t i = 0; i < lang_case_count(view->lang); i++) {
        struct program *other = lang_program(view->lang, i, NULL, 0, ignored);
        if (other != NULL && strcmp(other->case_name, program->case_name) != 0 &&
            task_needed_bytes(other) < 0.9 * task_free_bytes())
            buf_printf(&names, "%s%s", names.length ? "," : "", other->case_name);
    }
    return names.data;
}

/* Said before anything is drawn. */
static enum status
check_memory(struct cli *cli, const struct view *view, const struct program *program)
{
    double needed = task_needed_bytes(program), available = task_free_bytes();
    if (needed < 0.9 * available)
        return STATUS_OK;
    const char *others = others_that_fit(cli, view, program);
    return cli_wrong(cli, "case %s needs %.0f GB, here are %.0f GB; %s%s", program->case_name,
                     ceil(needed / 1e9), floor(available / 1e9),
                     *others ? "others fit: --case " : "choose smaller sizes", others);
}

/* Evaluates one of the cases asked for. */
static enum status
eval_case(struct cli *cli, const struct view *view, size_t number, uint64_t seed)
{
    const struct program *program = view->rows[number].program;
    const char *from = cli_given(cli, "inputs"), *to = NULL;
    struct found *found = arena_array(cli->arena, program->output_count, sizeof *found);
    void **inputs = NULL;
    enum status status = check_memory(cli, view, program);
    if (status == STATUS_OK && from != NULL)
        status = task_read_inputs(cli, program, from, &inputs);
    else if (status == STATUS_OK)
        inputs = task_draw_all(cli->arena, program, DRAW_NORMAL, seed);
    if (status == STATUS_OK)
        status = prepare_folder(cli, view, program, &to);
    if (status == STATUS_OK)
        status = evaluate(cli, program, inputs, seed, found);
    if (status == STATUS_OK && to != NULL)
        status = write_outputs(cli, to, found, program->output_count);
    if (status == STATUS_OK && cli->json)
        show_json(cli, program, found, number);
    else if (status == STATUS_OK)
        show(cli, program, found, seed);
    return status;
}

static enum status
read_seed(struct cli *cli, uint64_t *seed)
{
    int64_t number;
    const char *text = cli_given(cli, "seed");
    *seed = 1;
    if (text == NULL)
        return STATUS_OK;
    if (!text_integer(text, &number) || number < 0)
        return cli_wrong(cli, "--seed %s: write a whole number from 0 on", text);
    *seed = (uint64_t)number;
    return STATUS_OK;
}

enum status
task_eval(struct cli *cli, const struct view *view)
{
    uint64_t seed;
    enum status status = read_seed(cli, &seed);
    if (cli->json) {
        buf_puts(&cli->out, "{\"op\":");
        json_put_string(&cli->out, view->first->name);
        buf_printf(&cli->out, ",\"hash\":\"%s\",\"cases\":[", view->hash);
    }
    for (size_t i = 0; i < view->count && status == STATUS_OK; i++)
        status = eval_case(cli, view, i, seed);
    if (status != STATUS_OK)
        cli->out.length = 0; /* a result that is not whole is none */
    else if (cli->json)
        buf_puts(&cli->out, "]}\n");
    else if (cli_given(cli, "o") != NULL)
        buf_printf(&cli->out,
                   "Written to %s: NAME.npy, the values; NAME.tolerance.npy, the errors "
                   "a kernel may make.\n",
                   cli_given(cli, "o"));
    else
        buf_puts(&cli->out, "-o DIR writes values and tolerances as .npy files.\n");
    return status;
}
