/* The text of a kernel: is it one at all, and what do its //! lines declare?
 *
 * Declarations stand above the code, where nobody can overlook them. Below it a line that looks
 * like one is refused rather than ignored: its author believes in it. Any other //! comment is a
 * comment, since that is also how some people document their code. */
#include "target/target_int.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"

#define MOST_TUNES 16

bool
target__wrong(struct arena *arena, struct target_fault *fault, uint32_t line, const char *format,
              ...)
{
    struct buf buf = buf_in(arena);
    va_list args;

    va_start(args, format);
    buf_vprintf(&buf, format, args);
    va_end(args);
    *fault = (struct target_fault){.line = line, .message = buf.data};
    return false;
}

/* ---- //! lines ---- */

enum directive { DIRECTIVE_NONE, DIRECTIVE_FLAGS, DIRECTIVE_TUNE, DIRECTIVE_COUNT };

static const char *const directive_names[DIRECTIVE_COUNT] = {"", "flags", "tune"};

/* The lists that grow while a text is read. */
struct declared {
    struct arena *arena;
    const struct target *target;
    const struct program *program;
    const char *flags[TARGET__MOST_FLAGS];
    size_t flag_count;
    struct target_tune tunes[MOST_TUNES];
    size_t tune_count;
    struct target_fault *fault;
};

/* Behind the word: "-O3", "T = 4". */
static enum directive
looks_like(const char *rest)
{
    rest += strspn(rest, " \t:");
    if (*rest == '-')
        return DIRECTIVE_FLAGS;
    while (isalnum((unsigned char)*rest) || *rest == '_')
        rest++;
    rest += strspn(rest, " \t");
    return *rest == '=' && rest[1] != '=' ? DIRECTIVE_TUNE : DIRECTIVE_NONE;
}

static enum directive
named(const char *word)
{
    for (unsigned i = 1; i < DIRECTIVE_COUNT; i++)
        if (!strcmp(word, directive_names[i]))
            return (enum directive)i;
    return DIRECTIVE_NONE;
}

static bool
declare_tune(struct declared *declared, const char *rest, uint32_t line)
{
    struct target_tune *tune = &declared->tunes[declared->tune_count];

    if (declared->tune_count == MOST_TUNES)
        return target__wrong(declared->arena, declared->fault, line,
                             "more than %d numbers to tune; keep those that matter", MOST_TUNES);
    if (!target__read_tune(declared->arena, declared->program, rest, line, tune, declared->fault))
        return false;
    for (size_t i = 0; i < declared->tune_count; i++)
        if (!strcmp(declared->tunes[i].name, tune->name))
            return target__wrong(declared->arena, declared->fault, line,
                                 "//! tune %s: declared already in line %u", tune->name,
                                 declared->tunes[i].line);
    declared->tune_count++;
    return true;
}

/* One //! comment; `head` says that no code stands above it. */
static bool
declare(struct declared *declared, const struct c_token *comment, bool head)
{
    const char *text = arena_strndup(declared->arena, comment->start + 3, comment->length - 3);
    text += strspn(text, " \t");
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    const char *word = arena_strndup(declared->arena, text, length);
    const char *rest = text + length;
    enum directive is = named(word), like = looks_like(rest);

    if (is == DIRECTIVE_NONE && head && like != DIRECTIVE_NONE &&
        text_nearest(word, &directive_names[like], 1))
        return target__wrong(declared->arena, declared->fault, comment->line,
                             "//! %s: no such declaration; did you mean //! %s?", word,
                             directive_names[like]);
    if (is == DIRECTIVE_NONE || (!head && like != is))
        return true;
    if (!head)
        return target__wrong(declared->arena, declared->fault, comment->line,
                             "//! %s stands below code and would not count; "
                             "move it to the top of the file",
                             word);
    if (is == DIRECTIVE_TUNE)
        return declare_tune(declared, rest, comment->line);
    return target__read_flags(declared->arena, declared->target, rest, comment->line,
                              declared->flags, &declared->flag_count, declared->fault);
}

static void
keep(struct target_kernel *kernel, const struct declared *declared)
{
    struct arena *arena = declared->arena;

    kernel->flags = arena_grow(arena, declared->flags, declared->flag_count,
                               declared->flag_count + 1, sizeof *declared->flags);
    kernel->flag_count = declared->flag_count;
    kernel->tunes = arena_grow(arena, declared->tunes, declared->tune_count,
                               declared->tune_count + 1, sizeof *declared->tunes);
    kernel->tune_count = declared->tune_count;
}

static bool
is_declaration(const struct c_token *token)
{
    return token->kind == C_LINE_COMMENT && token->length >= 3 && token->start[2] == '!';
}

bool
target__read_c(struct arena *arena, const struct target *target, const struct program *program,
               struct target_kernel *kernel, struct target_fault *fault)
{
    struct declared declared = {
        .arena = arena, .target = target, .program = program, .fault = fault};
    struct c_reader reader = c_reader_of(kernel->text, kernel->length);
    bool head = true, found = false;

    for (;;) {
        struct c_token token = c_next(&reader);
        if (token.kind == C_END)
            break;
        if (is_declaration(&token) && !declare(&declared, &token, head))
            return false;
        if (token.kind != C_LINE_COMMENT && token.kind != C_BLOCK_COMMENT)
            head = false;
        found = found || (token.kind == C_WORD && c_is(&token, target->entry));
    }
    if (head)
        return target__wrong(arena, fault, 0, "the file is empty: nothing but comments");
    if (!found)
        return target__wrong(arena, fault, 0,
                             "no function `%s`; the contract is printed by "
                             "hone contract %s",
                             target->entry, target->name);
    keep(kernel, &declared);
    return true;
}

/* ---- every kernel ---- */

static bool
is_text(struct arena *arena, const struct target *target, const char *text, size_t length,
        struct target_fault *fault)
{
    const char *zero = memchr(text, 0, length);
    size_t blank = 0;

    if (length > target->limits.text_bytes)
        return target__wrong(arena, fault, 0, "the file is larger than %zu MB",
                             target->limits.text_bytes >> 20);
    if (zero)
        return target__wrong(arena, fault, 0,
                             "the file is binary (byte %zu is zero); a kernel is plain text",
                             (size_t)(zero - text));
    while (blank < length && isspace((unsigned char)text[blank]))
        blank++;
    if (blank == length)
        return target__wrong(arena, fault, 0, "the file is empty");
    return true;
}

bool
target_read(struct arena *arena, const struct target *target, const struct program *program,
            const char *text, size_t length, struct target_kernel *kernel,
            struct target_fault *fault)
{
    *kernel = (struct target_kernel){.text = text, .length = length};
    *fault = (struct target_fault){0};
    if (!is_text(arena, target, text, length, fault))
        return false;
    return !target->read || target->read(arena, target, program, kernel, fault);
}
