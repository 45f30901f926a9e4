/* What gcc's messages about the declaration of `kernel` mean for the task: which parameter. */
#include "target/target_int.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LISTED 8 /* parameters that a message repeats */

/* A function's type or head, cut up. */
struct head {
    const char *result;
    const char **parameters;
    size_t count;
};

struct question {
    struct arena *arena;
    const struct program *program;
    const struct target_kernel *kernel;
    struct target_fault *fault;
    uint32_t line;
};

/* ---- types as gcc writes them ---- */

/* Without `restrict`, which does not count, and with single blanks. */
static const char *
normal(struct arena *arena, const char *text, size_t length)
{
    struct buf buf = buf_in(arena);
    char *rest = arena_strndup(arena, text, length);

    for (char *word; (word = strsep(&rest, " \t"));)
        if (*word && strcmp(word, "restrict"))
            buf_printf(&buf, "%s%s", buf.length ? " " : "", word);
    return buf.data ? buf.data : "";
}

/* The '(' that the last character of the type closes, or NULL. */
static const char *
opening(const char *type, size_t length)
{
    int depth = 0;

    for (size_t i = length; i-- > 0;) {
        depth += (type[i] == ')') - (type[i] == '(');
        if (depth == 0)
            return type[i] == '(' ? type + i : NULL;
    }
    return NULL;
}

/* Room is doubled: a hostile text may have a million parameters. */
static void
add(struct arena *arena, struct head *head, const char *parameter)
{
    size_t count = head->count;

    if ((count & (count - 1)) == 0)
        head->parameters = arena_grow(arena, head->parameters, count, count ? 2 * count : 1,
                                      sizeof *head->parameters);
    head->parameters[head->count++] = parameter;
}

static void
add_type(struct arena *arena, struct head *head, const char *text, size_t length)
{
    const char *type = normal(arena, text, length);

    if (*type && strcmp(type, "void"))
        add(arena, head, type);
}

/* "void(const float *, float *)" */
static bool
cut(struct arena *arena, const char *type, size_t length, struct head *head)
{
    const char *open = opening(type, length), *end = type + length - 1;
    int depth = 0;

    *head = (struct head){0};
    if (!open)
        return false;
    head->result = normal(arena, type, (size_t)(open - type));
    for (const char *start = open + 1, *at = start; at <= end; at++) {
        if (at == end || (*at == ',' && depth == 0)) {
            add_type(arena, head, start, (size_t)(at - start));
            start = at + 1;
        }
        depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
    }
    return true;
}

/* The quoted type behind `label` and, where there are typedefs in it, what they stand for. */
static bool
find_type(struct arena *arena, const char *text, const char *label, struct head *plain,
          struct head *meant)
{
    const char *at = strstr(text, label), *aka;
    size_t length;

    if (!at)
        return false;
    at += strlen(label);
    length = strcspn(at, "'\n");
    if (!cut(arena, at, length, plain))
        return false;
    aka = at + length;
    if (strncmp(aka, "' {aka '", 8))
        return cut(arena, at, length, meant);
    return cut(arena, aka + 8, strcspn(aka + 8, "'\n"), meant);
}

/* ---- the kernel's own text ---- */

/* Behind `kernel (`: the names up to the closing bracket; true if a body follows. In (*f)(int) and
 * (*Y)[N] the name is the one in the first brackets. */
static bool
read_names(struct arena *arena, struct c_reader *reader, struct head *head)
{
    struct c_token name = {.start = ""};
    int round = 1, square = 0;
    bool any = false, settled = false;

    while (round > 0) {
        struct c_token token = c_next_code(reader);
        if (token.kind == C_END)
            return false;
        round += c_is(&token, "(") - c_is(&token, ")");
        square += c_is(&token, "[") - c_is(&token, "]");
        if (round == 0 || (round == 1 && square == 0 && c_is(&token, ","))) {
            if (any && !c_is(&name, "void"))
                add(arena, head, arena_strndup(arena, name.start, name.length));
            name = (struct c_token){.start = ""};
            any = settled = false;
            continue;
        }
        any = true;
        settled = settled || c_is(&token, ")");
        if (token.kind == C_WORD && square == 0 && !settled)
            name = token;
    }
    struct c_token next = c_next_code(reader);
    return !c_is(&next, ";");
}

/* The parameters' names of the kernel's definition; false if its text is not that plain. */
static bool
find_names(struct arena *arena, const struct target_kernel *kernel, struct head *head)
{
    struct c_reader reader = c_reader_of(kernel->text, kernel->length);
    struct c_token before = {0};

    for (;;) {
        struct c_token token = c_next_code(&reader);
        *head = (struct head){0};
        if (token.kind == C_END)
            return false;
        if (c_is(&token, "(") && c_is(&before, "kernel") && read_names(arena, &reader, head))
            return true;
        before = token;
    }
}

/* ---- answers ---- */

static bool
say(struct question *q, const char *message)
{
    *q->fault = (struct target_fault){.line = q->line, .message = message};
    return true;
}

static size_t
wanted_count(const struct question *q)
{
    return q->program->input_count + q->program->output_count;
}

static const struct tensor *
wanted(const struct question *q, size_t i)
{
    size_t inputs = q->program->input_count;

    return i < inputs ? q->program->tensors[i] : q->program->outputs[i - inputs];
}

static const char *
wanted_type(const struct question *q, size_t i)
{
    return arena_printf(q->arena, "%s%s *", i < q->program->input_count ? "const " : "",
                        dtype_info[wanted(q, i)->dtype].c_type);
}

/* "(const float *X, float *Y)", or how many there are. */
static const char *
wanted_list(const struct question *q)
{
    struct buf buf = buf_in(q->arena);
    size_t count = wanted_count(q);

    if (count > MOST_LISTED)
        return arena_printf(q->arena, "%zu; hone contract cpu FILE.op prints them", count);
    for (size_t i = 0; i < count; i++)
        buf_printf(&buf, "%s%s%s", i ? ", " : "(", wanted_type(q, i), wanted(q, i)->name);
    buf_putc(&buf, ')');
    return buf.data;
}

static bool
say_count(struct question *q, size_t count)
{
    return say(q, arena_printf(q->arena, "kernel has %zu parameter%s, the task wants %s", count,
                               count == 1 ? "" : "s", wanted_list(q)));
}

static bool
say_parameter(struct question *q, size_t i, const char *type)
{
    struct head names;
    struct buf buf = buf_in(q->arena);
    bool known = find_names(q->arena, q->kernel, &names) && i < names.count && *names.parameters[i];

    buf_printf(&buf, "parameter %zu of kernel", i + 1);
    if (known)
        buf_printf(&buf, ", %s,", names.parameters[i]);
    buf_printf(&buf, " is %s; the task wants %s for %s, ", type, wanted_type(q, i),
               wanted(q, i)->name);
    target_put_type(&buf, wanted(q, i));
    return say(q, buf.data);
}

static bool
say_wanted(struct question *q)
{
    struct buf buf = buf_in(q->arena);

    buf_puts(&buf, "kernel is not declared as the task wants it: void kernel");
    buf_puts(&buf, wanted_count(q) > MOST_LISTED ? "(...), parameters: " : "");
    buf_puts(&buf, wanted_list(q));
    return say(q, buf.data);
}

static bool
explain_conflict(struct question *q, const char *message)
{
    struct head plain, meant, shown, declared;

    if (!find_type(q->arena, message, "; have '", &plain, &meant))
        return say_wanted(q);
    if (strcmp(plain.result, "void"))
        return say(q,
                   arena_printf(q->arena, "kernel returns %s; it must return void", plain.result));
    if (plain.count != wanted_count(q))
        return say_count(q, plain.count);
    if (!find_type(q->arena, message, "' with type '", &shown, &declared) ||
        declared.count != meant.count)
        return say_wanted(q);
    for (size_t i = 0; i < meant.count; i++)
        if (strcmp(meant.parameters[i], declared.parameters[i]))
            return say_parameter(q, i, plain.parameters[i]);
    return say_wanted(q);
}

/* The old style, or no parameters at all. */
static bool
explain_count(struct question *q, const char *message)
{
    struct head names;

    (void)message;
    return find_names(q->arena, q->kernel, &names) ? say_count(q, names.count) : say_wanted(q);
}

static bool
explain_static(struct question *q, const char *message)
{
    (void)message;
    return say(q, "kernel is static, so it cannot be called; remove the word");
}

static bool
explain_other(struct question *q, const char *message)
{
    (void)message;
    return say_wanted(q);
}

/* ---- finding the message ---- */

static const struct {
    const char *text;
    bool (*explain)(struct question *q, const char *message);
} messages[] = {
    {"error: conflicting types for 'kernel'", explain_conflict},
    {"error: static declaration of 'kernel'", explain_static},
    {"error: 'kernel' redeclared as different kind", explain_other},
    {"error: number of arguments doesn't match prototype", explain_count},
    {"doesn't match prototype", explain_other},
};

/* The line in "k.c:12:6: error: ..." of which `at` points to the last part; 0 if there is none. */
static uint32_t
line_before(const char *text, const char *at)
{
    const char *start = at;
    unsigned long line = 0;

    while (start > text && start[-1] != '\n')
        start--;
    for (const char *colon = start; (colon = memchr(colon, ':', (size_t)(at - colon))); colon++)
        if (isdigit((unsigned char)colon[1])) {
            line = strtoul(colon + 1, NULL, 10);
            break;
        }
    return line <= UINT32_MAX ? (uint32_t)line : 0;
}

/* The quotes of other locales as plain ones. */
static char *
plain_quotes(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text), *to = copy;

    for (const char *from = copy; *from; from++) {
        bool quote = !strncmp(from, "\xe2\x80\x98", 3) || !strncmp(from, "\xe2\x80\x99", 3);
        *to++ = quote ? '\'' : *from;
        from += quote ? 2 : 0;
    }
    *to = 0;
    return copy;
}

bool
target__cpu_explain(struct arena *arena, const struct program *program,
                    const struct target_kernel *kernel, const char *diagnostics,
                    struct target_fault *fault)
{
    struct question q = {.arena = arena, .program = program, .kernel = kernel, .fault = fault};
    char *text = plain_quotes(arena, diagnostics);

    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        const char *found = strstr(text, messages[i].text);
        if (!found)
            continue;
        q.line = line_before(text, found);
        return messages[i].explain(&q, found);
    }
    return false;
}
