/* Tokens of C with whole operators, and lists of hashes. */
#include "report/code_int.h"

#include "base/c_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists of hashes ---- */

uint64_t
code_hash(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * 1099511628211u; /* FNV-1a */
    return hash;
}

void
code_list_add(struct arena *arena, struct code_list *list, uint64_t item)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 64;
        list->items =
            arena_grow(arena, list->items, list->count, list->capacity, sizeof *list->items);
    }
    list->items[list->count++] = item;
}

static int
by_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void
code_list_sort(struct code_list *list)
{
    if (list->count > 0)
        qsort(list->items, list->count, sizeof *list->items, by_hash);
}

size_t
code_list_common(const struct code_list *a, const struct code_list *b)
{
    size_t common = 0;
    for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
        common += a->items[i] == b->items[j];
        uint64_t x = a->items[i], y = b->items[j];
        i += x <= y;
        j += y <= x;
    }
    return common;
}

/* ---- tokens ---- */

/* C17's, which the weighted n-grams count five times. */
static const char *const keywords[] = {
    "_Alignas",   "_Alignof",  "_Atomic", "_Bool",    "_Complex",       "_Generic",
    "_Imaginary", "_Noreturn", "auto",    "break",    "_Static_assert", "_Thread_local",
    "case",       "char",      "const",   "continue", "default",        "do",
    "double",     "else",      "enum",    "extern",   "float",          "for",
    "goto",       "if",        "inline",  "int",      "long",           "register",
    "restrict",   "return",    "short",   "signed",   "sizeof",         "static",
    "struct",     "switch",    "typedef", "union",    "unsigned",       "void",
    "volatile",   "while",
};

/* Longer ones first. */
static const char *const operators[] = {"<<=", ">>=", "...", "->", "++", "--", "<<", ">>",
                                        "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
                                        "*=",  "/=",  "%=",  "&=", "|=", "^=", "##"};

bool
code_is(const struct code_token *token, const char *text)
{
    return token->length == strlen(text) && memcmp(token->start, text, token->length) == 0;
}

static bool
is_keyword(const struct c_token *token)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (c_is(token, keywords[i]))
            return true;
    return false;
}

static enum code_token_kind
kind_of(const struct c_token *token)
{
    if (token->kind == C_QUOTED)
        return CODE_QUOTED;
    if (token->kind == C_MARK)
        return CODE_OPERATOR;
    if (isdigit((unsigned char)*token->start))
        return CODE_NUMBER;
    return is_keyword(token) ? CODE_KEYWORD : CODE_NAME;
}

/* How long the operator is that begins here; 1 if it is none of several characters. */
static size_t
operator_length(const char *at, const char *end)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        size_t length = strlen(operators[i]);
        if ((size_t)(end - at) >= length && memcmp(at, operators[i], length) == 0)
            return length;
    }
    return 1;
}

/* "1.5e-3f" is read as words and marks; taken together it is one number. */
static size_t
number_length(const char *at, const char *end)
{
    const char *start = at;
    while (at < end) {
        bool sign = at > start && strchr("+-", *at) && strchr("eEpP", at[-1]);
        bool hex = at - start > 1 && (start[1] == 'x' || start[1] == 'X');
        if (!isalnum((unsigned char)*at) && *at != '.' && *at != '_' &&
            !(sign && !(hex && strchr("eE", at[-1]))))
            break;
        at++;
    }
    return (size_t)(at - start);
}

static bool
starts_number(const char *at, const char *end)
{
    return isdigit((unsigned char)*at) ||
           (*at == '.' && at + 1 < end && isdigit((unsigned char)at[1]));
}

static struct code_token
make_token(const struct c_token *read, const char *end)
{
    struct code_token token = {
        .kind = kind_of(read), .start = read->start, .length = read->length, .line = read->line};
    if (starts_number(read->start, end)) {
        token.kind = CODE_NUMBER;
        token.length = number_length(read->start, end);
    } else if (token.kind == CODE_OPERATOR) {
        token.length = operator_length(read->start, end);
    }
    token.hash = code_hash(CODE_HASH_START, token.start, token.length);
    return token;
}

struct code_text
code_tokens(struct arena *arena, const char *text)
{
    size_t length = strlen(text), capacity = 256;
    struct c_reader reader = c_reader_of(text, length);
    struct code_text result = {.tokens = arena_array(arena, capacity, sizeof *result.tokens)};
    for (;;) {
        struct c_token read = c_next_code(&reader);
        if (result.count + 1 == capacity) {
            result.tokens =
                arena_grow(arena, result.tokens, result.count, 2 * capacity, sizeof *result.tokens);
            capacity *= 2;
        }
        struct code_token *token = &result.tokens[result.count];
        if (read.kind == C_END) {
            *token = (struct code_token){
                .kind = CODE_LAST, .start = text + length, .line = reader.line + 1};
            return result;
        }
        *token = make_token(&read, text + length);
        if (reader.at < token->start + token->length)
            reader.at = token->start + token->length;
        result.count++;
    }
}
