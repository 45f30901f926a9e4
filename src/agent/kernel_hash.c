/* What two texts of one kernel have in common. Comments and blanks go; names that are seen to be
 * declared are numbered in the order in which they come. A name that is not surely a variable
 * stays: to take one kernel for two costs a measurement, to take two for one loses a kernel. */
#include "agent/agent.h"

#include "base/c_text.h"
#include "base/hash.h"
#include "base/text.h"

#include <string.h>

enum { MOST_NAMES = 4096 };

struct names {
    struct arena *arena;
    struct {
        const char *start;
        size_t length;
        bool declared, fixed; /* fixed: it is a function's somewhere, or a member's */
        size_t number;        /* 0: not seen yet */
    } list[MOST_NAMES];
    size_t count, numbered;
    size_t table[2 * MOST_NAMES]; /* by hash: index + 1; 0: free */
};

static size_t
name_index(struct names *names, const struct c_token *token)
{
    uint64_t hash = hash_mix(0, token->start, token->length);
    size_t slot = (size_t)(hash % (2 * MOST_NAMES));
    for (; names->table[slot] != 0; slot = (slot + 1) % (2 * MOST_NAMES)) {
        size_t i = names->table[slot] - 1;
        if (names->list[i].length == token->length &&
            memcmp(names->list[i].start, token->start, token->length) == 0)
            return i;
    }
    if (names->count == MOST_NAMES)
        return MOST_NAMES;
    names->list[names->count].start = token->start;
    names->list[names->count].length = token->length;
    names->table[slot] = ++names->count;
    return names->count - 1;
}

/* ---- which names are variables ---- */

static bool
is_type(const struct c_token *token)
{
    static const char *const words[] = {
        "int",      "long",     "short",    "char",       "float",        "double",
        "unsigned", "signed",   "size_t",   "ptrdiff_t",  "vf32",         "vi32",
        "vf64",     "vi64",     "restrict", "const",      "bool",         "_Float16",
        "bf16",     "register", "__m128",   "__m256",     "__m512",       "__m256i",
        "__m512i",  "__m256d",  "__m512d",  "__restrict", "__restrict__", "auto"};
    if (token->kind != C_WORD)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (c_is(token, words[i]))
            return true;
    return token->length > 2 && memcmp(token->start + token->length - 2, "_t", 2) == 0;
}

/* `float x =`, `float *x)`, `long i;`: a word between a type and what can follow a name only. */
static void
look_at(struct names *names, const struct c_token last[4])
{
    const struct c_token *type = &last[0], *star = &last[1], *word = &last[2], *next = &last[3];
    if (word->kind != C_WORD)
        return;
    size_t i = name_index(names, word);
    if (i == MOST_NAMES)
        return;
    bool typed = is_type(star) || (c_is(star, "*") && is_type(type));
    bool ended = next->kind == C_MARK && strchr("=;,)[:", next->start[0]) != NULL;
    bool shape = is_type(word) || (word->start[0] >= '0' && word->start[0] <= '9');
    names->list[i].declared |= typed && ended && !shape;
    names->list[i].fixed |= c_is(next, "(") || c_is(star, ".") ||
                            (c_is(star, ">") && c_is(type, "-")) || c_is(star, "define");
}

static void
find_variables(struct names *names, const char *kernel)
{
    struct c_reader reader = c_reader_of(kernel, strlen(kernel));
    struct c_token last[4] = {{0}, {0}, {0}, {0}};
    do {
        memmove(last, last + 1, 3 * sizeof *last);
        last[3] = c_next_code(&reader);
        look_at(names, last);
    } while (last[3].kind != C_END);
}

/* ---- the text that is hashed ---- */

static void
put_token(struct buf *buf, struct names *names, const struct c_token *token)
{
    size_t i = token->kind == C_WORD ? name_index(names, token) : MOST_NAMES;
    if (i < MOST_NAMES && names->list[i].declared && !names->list[i].fixed) {
        if (names->list[i].number == 0)
            names->list[i].number = ++names->numbered;
        buf_printf(buf, "$%zu ", names->list[i].number);
        return;
    }
    buf_add(buf, token->start, token->length);
    buf_putc(buf, ' ');
}

/* //! flags and //! tune are no comments: they change what is built. */
static void
put_comment(struct buf *buf, const struct c_token *token)
{
    const char *text = arena_strndup(buf->arena, token->start, token->length);
    const char *word = text_starts(text, "//!") ? text + 3 + strspn(text + 3, " \t") : "";
    if (!text_starts(word, "flags") && !text_starts(word, "tune"))
        return;
    for (; *word; word += strspn(word, " \t\r,")) {
        size_t length = strcspn(word, " \t\r,=");
        length += length == 0;
        buf_printf(buf, "%.*s ", (int)length, word);
        word += length;
    }
    buf_putc(buf, '\n');
}

/* The end of a line means something to the preprocessor alone. */
static void
put_kernel(struct buf *buf, struct names *names, const char *kernel)
{
    struct c_reader reader = c_reader_of(kernel, strlen(kernel));
    struct c_token token = c_next(&reader), last = {0};
    bool directive = false;
    for (; token.kind != C_END; token = c_next(&reader)) {
        bool fresh = token.line != last.line && !(last.kind == C_MARK && c_is(&last, "\\"));
        if (directive && fresh) {
            buf_putc(buf, '\n');
            directive = false;
        }
        if (c_is(&token, "#") && token.line != last.line) {
            buf_puts(buf, directive ? "" : "\n");
            directive = true;
        }
        if (token.kind == C_LINE_COMMENT)
            put_comment(buf, &token);
        else if (token.kind != C_BLOCK_COMMENT)
            put_token(buf, names, &token);
        last = token;
    }
}

void
agent_normal_hash(struct arena *arena, const char *kernel, char hash[])
{
    struct names *names = arena_alloc(arena, sizeof *names);
    struct buf buf = buf_in(arena);
    names->arena = arena;
    find_variables(names, kernel);
    put_kernel(&buf, names, kernel);
    hash_sha256(buf.length > 0 ? buf.data : "", buf.length, hash);
}
