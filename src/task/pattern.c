/* Inputs that somebody proposes, a model perhaps: statements of the language, whose values an input
 * gets, "X[i,j] = if(i == 0, 64, 0)", and sizes, "R=1 N=17".
 *
 * The text is not trusted. It can hold nothing but one expression for each input: no file, no
 * operator, no further statement; it is interpreted here and never compiled; and what it may cost
 * is bounded before it is evaluated. Values stay inside the domain of their input. */
#include "task/task_int.h"

#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const double MOST_TERMS = 1 << 24; /* that are interpreted, in about a second */
enum { MOST_TEXT = 400 };

struct head { /* "X[i,j]" */
    const char *name;
    const char *indices[LANG_MAX_RANK];
    size_t rank;
    const char *value; /* what stands behind the = */
};

static bool __attribute__((format(printf, 3, 4)))
refuse(struct diags *diags, const char *text, const char *format, ...)
{
    char reason[TASK_MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    diags_add(diags, DIAG_ERROR, (struct place){0}, "%s: %s", text, reason);
    return false;
}

/* ---- a statement ---- */

static const char *
take_word(struct arena *arena, const char **at)
{
    const char *start = *at += strspn(*at, " \t");
    if (!isalpha((unsigned char)*start))
        return NULL;
    while (isalnum((unsigned char)**at) || **at == '_')
        ++*at;
    const char *word = arena_strndup(arena, start, (size_t)(*at - start));
    *at += strspn(*at, " \t");
    return word;
}

static bool
take(const char **at, char sign)
{
    if (**at != sign)
        return false;
    ++*at;
    *at += strspn(*at, " \t");
    return true;
}

static bool
read_head(struct arena *arena, const char *text, struct head *head)
{
    const char *at = text;
    *head = (struct head){.name = take_word(arena, &at)};
    bool good = head->name != NULL && take(&at, '[');
    while (good && *at != ']') {
        good = head->rank < LANG_MAX_RANK && (head->rank == 0 || take(&at, ','));
        if (good)
            head->indices[head->rank] = take_word(arena, &at);
        good = good && head->indices[head->rank++] != NULL;
    }
    good = good && take(&at, ']') && take(&at, '=');
    head->value = at;
    return good && *at != '\0' && *at != '=';
}

/* A program of one stage that has no inputs. */
static const char *
program_text(struct arena *arena, const struct program *program, const struct tensor *input,
             const struct head *head)
{
    struct buf text = buf_in(arena);
    buf_puts(&text, "op pattern\n");
    for (size_t i = 0; i < program->dim_count; i++)
        buf_printf(&text, "dim %s=%lld\n", program->dims[i].name, (long long)program->dims[i].size);
    buf_printf(&text, "%s[", input->name);
    for (size_t i = 0; i < head->rank; i++)
        buf_printf(&text, "%s%s:%lld", i ? "," : "", head->indices[i], (long long)input->size[i]);
    buf_printf(&text, "] = %s\nout %s\n", head->value, input->name);
    return text.data;
}

/* Nothing that would begin another statement or name a file. */
static bool
is_plain(const char *text)
{
    return strlen(text) <= MOST_TEXT && strpbrk(text, "\"'#;{}\\\n\r") == NULL;
}

static struct program *
read_statement(struct arena *arena, const struct program *program, const char *text,
               const struct tensor **input, struct diags *diags)
{
    struct head head;
    struct diags *ours = diags_create(arena, 1);
    *input = NULL;
    if (!is_plain(text) || !read_head(arena, text, &head)) {
        refuse(diags, text, "no pattern; write one statement such as X[i,j] = if(i == 0, 64, 0)");
        return NULL;
    }
    for (size_t i = 0; i < program->input_count; i++)
        if (!strcmp(program->tensors[i]->name, head.name))
            *input = program->tensors[i];
    if (*input == NULL || (*input)->rank != head.rank) {
        refuse(diags, text, "no input of that name and number of indices; write one of the task's");
        return NULL;
    }
    const char *source = program_text(arena, program, *input, &head);
    struct lang *lang = lang_parse(arena, "pattern", source, strlen(source), ours);
    struct program *pattern = lang ? lang_program(lang, 0, NULL, 0, ours) : NULL;
    bool alone = pattern != NULL && !pattern->foreign && pattern->input_count == 0 &&
                 pattern->output_count == 1 && pattern->outputs[0]->count == (*input)->count;
    if (!alone)
        refuse(diags, text, "%s",
               pattern == NULL && diags_count(ours) > 0
                   ? diags_get(ours, 0)->message
                   : "it is more than one statement; write one for each input");
    return alone ? pattern : NULL;
}

/* ---- its values ---- */

static bool
may_be_given(const struct tensor *input, const char *text, struct diags *diags)
{
    enum domain_form form = input->domain.form;
    if (form == DOMAIN_NONE || form == DOMAIN_INTERVAL || form == DOMAIN_SCALE)
        return true;
    return refuse(diags, text, "%s has a form of its own; write a pattern for another input",
                  input->name);
}

static bool
is_cheap(const struct program *pattern, const char *text, struct diags *diags)
{
    struct lang_needs needs;
    lang_reference_needs(pattern, &needs);
    if (needs.terms <= MOST_TERMS && (double)pattern->outputs[0]->count <= MOST_TERMS)
        return true;
    return refuse(diags, text,
                  "it takes %.2g operations, at most %.2g are allowed; write it "
                  "without sums",
                  needs.terms, MOST_TERMS);
}

static bool
fill(struct arena *arena, const struct program *pattern, const struct tensor *input, void *data,
     const char *text, struct diags *diags)
{
    struct lang_result result = {0};
    double low, high, largest = dtype_info[input->dtype].largest;
    task__range(input, &low, &high);
    low = fmax(low, -largest - !dtype_is_float(input->dtype));
    high = fmin(high, largest);
    if (lang_interpret(arena, pattern, NULL, &result) != STATUS_OK)
        return refuse(diags, text, "there is no memory for it");
    for (int64_t i = 0; i < input->count; i++) {
        double value = dtype_is_float(input->dtype) ? result.v[i] : rint(result.v[i]);
        if (isnan(value))
            return refuse(diags, text, "some of its values are no numbers");
        dtype_set_element(input->dtype, data, i, fmin(fmax(value, low), high));
    }
    return true;
}

enum status
task_pattern(struct arena *arena, const struct program *program, const char *text, void **inputs,
             struct diags *diags)
{
    char *rest = arena_strdup(arena, text);
    bool good = true;
    memset(inputs, 0, program->input_count * sizeof *inputs);
    for (char *line; good && (line = strsep(&rest, ";\n")) != NULL;) {
        const struct tensor *input;
        line += strspn(line, " \t\r");
        if (*line == '\0')
            continue;
        const struct program *pattern = read_statement(arena, program, line, &input, diags);
        good =
            pattern != NULL && may_be_given(input, line, diags) && is_cheap(pattern, line, diags);
        if (good) {
            void *data = inputs[input->input] =
                arena_alloc(arena, (size_t)input->count * dtype_info[input->dtype].size);
            good = fill(arena, pattern, input, data, line, diags);
        }
    }
    return good ? STATUS_OK : STATUS_INPUT;
}

/* ---- sizes ---- */

static const struct dim *
find_dim(const struct program *program, const char *name)
{
    for (size_t i = 0; i < program->dim_count; i++)
        if (!strcmp(program->dims[i].name, name) && program->dims[i].any)
            return &program->dims[i];
    return NULL;
}

enum status
task_sizes(struct arena *arena, const struct program *program, const char *text,
           struct lang_size *sizes, size_t *count, struct diags *diags)
{
    *count = 0;
    for (const char *at = text; *(at += strspn(at, " \t\n,;{}")) != '\0';) {
        const char *name = take_word(arena, &at);
        const struct dim *dim = name ? find_dim(program, name) : NULL;
        char *end = NULL;
        if (dim != NULL && (take(&at, '=') || take(&at, ':')))
            sizes[*count] = (struct lang_size){dim->name, strtoll(at, &end, 10)};
        if (dim == NULL || *count == program->dim_count || end == NULL || end == at ||
            sizes[*count].size < 1 || sizes[*count].size > 2 * dim->given) {
            refuse(diags, text,
                   "no sizes; write NAME=NUMBER for dims that may have any size, from "
                   "1 to twice the given one");
            return STATUS_INPUT;
        }
        at = end;
        ++*count;
    }
    return STATUS_OK;
}
