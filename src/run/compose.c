/* Kernels of the parts of a program become one kernel of the whole. Where all of them are schedules
 * their lines are lines of the whole. C stands one below the other: what each text names on its own
 * gets a name of its part, and what the parts hand to each other lies in static memory. */
#include "run/team_int.h"

#include "base/c_text.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

enum { MOST_NAMES = 512 };

struct names {
    const char *name[MOST_NAMES];
    size_t count;
};

static void
add_name(struct arena *arena, struct names *names, const char *start, size_t length)
{
    for (size_t i = 0; i < names->count; i++)
        if (strlen(names->name[i]) == length && !strncmp(names->name[i], start, length))
            return;
    if (names->count < MOST_NAMES)
        names->name[names->count++] = arena_strndup(arena, start, length);
}

/* ---- lines for the preprocessor ---- */

/* With the lines that it goes on in. */
static size_t
line_length(const char *text)
{
    size_t length = strcspn(text, "\n");
    while (length > 0 && text[length] == '\n' && text[length - 1] == '\\')
        length += 1 + strcspn(text + length + 1, "\n");
    return length + (text[length] == '\n');
}

static const char *
directive(const char *line)
{
    line += strspn(line, " \t");
    return *line == '#' ? line + 1 + strspn(line + 1, " \t") : NULL;
}

/* What is said once for all parts: headers, and what they are told. */
static bool
is_common(const char *line)
{
    const char *word = directive(line);
    return word != NULL && (text_starts(word, "include") || text_starts(word, "define HONE_"));
}

static bool
is_declaration(const char *line)
{
    line += strspn(line, " \t");
    return text_starts(line, "//! flags") || text_starts(line, "//! tune");
}

/* Lines of one kind that are not there yet. */
static void
put_once(struct buf *buf, const char *text, bool (*wanted)(const char *line))
{
    for (size_t length; *text; text += length) {
        length = line_length(text);
        bool known = buf->data != NULL && memmem(buf->data, buf->length, text, length) != NULL;
        if (wanted(text) && !known)
            buf_add(buf, text, length);
    }
}

static void
note_defines(struct arena *arena, const char *text, struct names *names)
{
    for (; *text; text += line_length(text)) {
        const char *word = directive(text);
        if (word == NULL || !text_starts(word, "define ") || is_common(text))
            continue;
        word += 7 + strspn(word + 7, " \t");
        add_name(arena, names, word,
                 strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"));
    }
}

/* ---- what a text names outside of its functions ---- */

static const char *
without_directives(struct arena *arena, const char *text)
{
    char *code = arena_strdup(arena, text);
    for (size_t at = 0, length; code[at]; at += length) {
        length = line_length(code + at);
        if (directive(code + at) != NULL)
            memset(code + at, ' ', length);
    }
    return code;
}

static bool
is_name(const struct c_token *token)
{
    return token->kind == C_WORD && !isdigit((unsigned char)*token->start) &&
           !text_starts(token->start, "__") && *token->start != '_';
}

/* Does the word between these two name something? "f(", "x[", "vector __attribute__", "struct s" */
static bool
is_named(const struct c_token *before, const struct c_token *after)
{
    bool tag = c_is(before, "struct") || c_is(before, "union") || c_is(before, "enum");
    bool typed = before->kind == C_WORD || c_is(before, "*") || c_is(before, ",");
    return tag || c_is(after, "(") ||
           (typed && (c_is(after, "[") || c_is(after, "=") || c_is(after, ";") ||
                      c_is(after, ",") || c_is(after, "__attribute__")));
}

static void
note_names(struct arena *arena, const char *text, struct names *names)
{
    const char *code = without_directives(arena, text);
    struct c_reader reader = c_reader_of(code, strlen(code));
    struct c_token before = {0}, token = c_next_code(&reader), after;
    long braces = 0, brackets = 0;
    bool values = false; /* in the list of an enum */
    for (; token.kind != C_END; before = token, token = after) {
        after = c_next_code(&reader);
        bool value =
            values && braces == 1 && brackets == 0 && (c_is(&before, "{") || c_is(&before, ","));
        if (is_name(&token) &&
            (value || (braces == 0 && brackets == 0 && is_named(&before, &after))))
            add_name(arena, names, token.start, token.length);
        if (braces == 0 && c_is(&after, "{"))
            values = c_is(&token, "enum") || c_is(&before, "enum");
        braces += c_is(&token, "{") - c_is(&token, "}");
        brackets += c_is(&token, "(") + c_is(&token, "[") - c_is(&token, ")") - c_is(&token, "]");
    }
}

/* ---- one below the other ---- */

static bool
is_neither(const char *line)
{
    return !is_common(line) && !is_declaration(line);
}

static void
put_piece(struct buf *buf, const struct run_part *part, size_t number)
{
    struct names *names = arena_alloc(buf->arena, sizeof *names);
    struct names *defines = arena_alloc(buf->arena, sizeof *defines);
    const char *text = part->best->kernel;
    note_names(buf->arena, text, names);
    note_defines(buf->arena, text, defines);
    buf_printf(buf, "\n/* part %zu */\nstatic void part%zu_kernel(", number, number);
    struct buf parameters = buf_in(buf->arena);
    run__put_parameters(&parameters, part->program);
    buf_printf(buf, "%.*s;\n", (int)parameters.length - 1, parameters.data);
    for (size_t i = 0; i < names->count; i++)
        buf_printf(buf, "#define %s part%zu_%s\n", names->name[i], number, names->name[i]);
    for (size_t length; *text; text += length) {
        length = line_length(text);
        if (is_neither(text))
            buf_add(buf, text, length);
    }
    for (size_t i = 0; i < names->count; i++)
        buf_printf(buf, "#undef %s\n", names->name[i]);
    for (size_t i = 0; i < defines->count; i++)
        buf_printf(buf, "#undef %s\n", defines->name[i]);
}

static const char *
variable_of(struct arena *arena, const struct program *program, const struct tensor *tensor)
{
    if (tensor->input >= 0)
        return arena_printf(arena, "in%d", tensor->input);
    for (size_t i = 0; i < program->output_count; i++)
        if (program->outputs[i] == tensor)
            return arena_printf(arena, "out%zu", i);
    return arena_printf(arena, "hone_between_%u", tensor->number);
}

/* Every case is built alone: there is room for the largest. */
static int64_t
most_elements(const struct run_result *result, const struct tensor *tensor)
{
    int64_t most = 0;
    for (size_t i = 0; i < result->case_count; i++) {
        int64_t count = result->cases[i].program->tensors[tensor->number]->count;
        most = count > most ? count : most;
    }
    return most;
}

static void
put_between(struct buf *buf, const struct run_result *result, const struct run_part *part)
{
    enum { BEHIND = 64 }; /* bytes that may be read behind the last element */
    for (size_t i = 0; i < part->cut.output_count; i++) {
        const struct tensor *tensor = part->cut.outputs[i];
        const struct dtype_info *type = &dtype_info[tensor->dtype];
        if (tensor->output < 0)
            buf_printf(buf, "static %s hone_between_%u[%lld] __attribute__((aligned(64)));\n",
                       type->c_type, tensor->number,
                       (long long)(most_elements(result, tensor) + BEHIND / (int64_t)type->size));
    }
}

static void
put_call(struct buf *buf, const struct program *whole, const struct run_part *part, size_t number)
{
    buf_printf(buf, "    part%zu_kernel(", number);
    for (size_t i = 0; i < part->cut.input_count; i++)
        buf_printf(buf, "%s%s", i ? ", " : "", variable_of(buf->arena, whole, part->cut.inputs[i]));
    for (size_t i = 0; i < part->cut.output_count; i++)
        buf_printf(buf, ", %s", variable_of(buf->arena, whole, part->cut.outputs[i]));
    buf_puts(buf, ");\n");
}

static const char *
join_c(struct team *team, const struct run_part *parts, size_t count)
{
    const struct run_result *result = team->loop->result;
    const struct program *whole = result->cases[0].program;
    struct buf buf = buf_in(team->loop->arena);
    put_once(&buf, parts[0].best->kernel, is_declaration);
    for (size_t i = 0; i < count; i++)
        put_once(&buf, parts[i].best->kernel, is_common);
    for (size_t i = 0; i < count; i++)
        put_piece(&buf, &parts[i], i + 1);
    buf_putc(&buf, '\n');
    for (size_t i = 0; i < count; i++)
        put_between(&buf, result, &parts[i]);
    buf_puts(&buf, "\nvoid\nkernel(");
    run__put_parameters(&buf, whole);
    buf_puts(&buf, "{\n");
    for (size_t i = 0; i < count; i++)
        put_call(&buf, whole, &parts[i], i + 1);
    buf_puts(&buf, "}\n");
    return buf.data;
}

/* ---- lines ---- */

/* The text with the names of the whole: Y.1 for Y_1. */
static void
put_lines(struct buf *buf, const struct program *whole, const char *lines)
{
    while (*lines) {
        size_t length =
            strspn(lines, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        const char *word = arena_strndup(buf->arena, lines, length);
        for (size_t i = 0; i < whole->stage_count && length > 0; i++)
            if (!strcmp(word, lang_part_name(buf->arena, whole->stages[i].tensor)))
                word = whole->stages[i].tensor->name;
        buf_puts(buf, word);
        buf_add(buf, lines + length, lines[length] != '\0');
        lines += length + (lines[length] != '\0');
    }
}

/* NULL: not all parts are schedules. */
static const char *
join_lines(struct team *team, const struct run_part *parts, size_t count)
{
    const struct run_result *result = team->loop->result;
    struct buf buf = buf_in(team->loop->arena);
    for (size_t p = 0; p < count; p++)
        if (parts[p].best->schedule == NULL || parts[p].best->programs != NULL)
            return NULL;
    for (size_t i = 0; i < result->case_count; i++) {
        if (result->case_count > 1)
            buf_printf(&buf, "case %s:\n", result->cases[i].program->case_name);
        for (size_t p = 0; p < count; p++)
            put_lines(&buf, result->cases[i].program, parts[p].best->lines[i]);
    }
    return buf.data ? buf.data : "";
}

void
team__compose_parts(struct team *team, const struct run_part *parts, size_t count,
                    struct node *node)
{
    const char *lines = join_lines(team, parts, count), *reason;
    if (lines == NULL || !team__schedule(team, lines, node, &reason))
        node->kernel = join_c(team, parts, count);
}
