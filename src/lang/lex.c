/* Text to tokens. Newlines stay tokens: whether one ends a statement is the parser's to say. */
#include "base/hash.h"
#include "lang/ast_int.h"

#include <ctype.h>
#include <string.h>

/* ---- names ---- */

struct names {
    struct arena *arena;
    const char **slots;
    uint8_t *words; /* by slot: enum word_kind */
    size_t capacity, count;
};

struct names *
names_create(struct arena *arena)
{
    struct names *names = arena_alloc(arena, sizeof *names);
    names->arena = arena;
    names->capacity = 256;
    names->slots = arena_array(arena, names->capacity, sizeof *names->slots);
    names->words = arena_array(arena, names->capacity, sizeof *names->words);
    return names;
}

static size_t
find_slot(const struct names *names, const char *text, size_t length)
{
    size_t slot = hash_mix(0, text, length) & (names->capacity - 1);
    while (names->slots[slot] != NULL &&
           (strncmp(names->slots[slot], text, length) != 0 || names->slots[slot][length] != '\0'))
        slot = (slot + 1) & (names->capacity - 1);
    return slot;
}

static void
grow_names(struct names *names)
{
    const char **old = names->slots;
    size_t old_capacity = names->capacity;
    names->capacity *= 2;
    const uint8_t *old_words = names->words;
    names->slots = arena_array(names->arena, names->capacity, sizeof *names->slots);
    names->words = arena_array(names->arena, names->capacity, sizeof *names->words);
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i] != NULL) {
            size_t slot = find_slot(names, old[i], strlen(old[i]));
            names->slots[slot] = old[i];
            names->words[slot] = old_words[i];
        }
}

const char *
names_intern(struct names *names, const char *text, size_t length)
{
    size_t slot = find_slot(names, text, length);
    if (names->slots[slot] != NULL)
        return names->slots[slot];
    const char *name = arena_strndup(names->arena, text, length);
    names->slots[slot] = name;
    names->words[slot] = (uint8_t)word_kind(name);
    if (++names->count * 2 > names->capacity)
        grow_names(names);
    return name;
}

enum word_kind
names_word(struct names *names, const char *interned)
{
    return names->words[find_slot(names, interned, strlen(interned))];
}

/* ---- tokens ---- */

struct lexer {
    struct arena *arena;
    struct names *names;
    const struct source *source;
    struct diags *diags;
    size_t at, line_start;
    uint32_t line;
    struct tokens tokens;
    size_t capacity;
};

static char
look(const struct lexer *lexer, size_t ahead)
{
    size_t at = lexer->at + ahead;
    return at < lexer->source->length ? lexer->source->text[at] : '\0';
}

static struct place
here(const struct lexer *lexer)
{
    return (struct place){lexer->source, lexer->line,
                          (uint32_t)(lexer->at - lexer->line_start + 1)};
}

static struct token *
add_token(struct lexer *lexer, enum token_kind kind, size_t length)
{
    struct tokens *tokens = &lexer->tokens;
    if (tokens->count == lexer->capacity) {
        lexer->capacity = lexer->capacity ? 2 * lexer->capacity : 256;
        tokens->items = arena_grow(lexer->arena, tokens->items, tokens->count, lexer->capacity,
                                   sizeof *tokens->items);
    }
    struct token *token = &tokens->items[tokens->count++];
    *token = (struct token){.kind = kind,
                            .place = here(lexer),
                            .text = lexer->source->text + lexer->at,
                            .length = (uint32_t)length,
                            .offset = (uint32_t)lexer->at};
    lexer->at += length;
    return token;
}

static bool
is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static void
lex_name(struct lexer *lexer)
{
    size_t length = 0;
    while (is_name_char(look(lexer, length)))
        length++;
    if (length > LANG_MAX_NAME)
        diags_add(lexer->diags, DIAG_ERROR, here(lexer),
                  "this name has %zu characters; names have at most %d", length, LANG_MAX_NAME);
    struct token *token = add_token(lexer, TOKEN_NAME, length);
    token->text = names_intern(lexer->names, token->text, length);
    token->word = names_word(lexer->names, token->text);
}

static size_t
count_digits(const struct lexer *lexer, size_t from)
{
    size_t n = 0;
    while (isdigit((unsigned char)look(lexer, from + n)))
        n++;
    return n;
}

static void
lex_number(struct lexer *lexer)
{
    enum token_kind kind = TOKEN_INTEGER;
    size_t length = count_digits(lexer, 0);
    if (look(lexer, length) == '.' && look(lexer, length + 1) != '.') {
        kind = TOKEN_REAL;
        length += 1 + count_digits(lexer, length + 1);
    }
    if (look(lexer, length) == 'e' || look(lexer, length) == 'E') {
        size_t sign = look(lexer, length + 1) == '+' || look(lexer, length + 1) == '-';
        size_t digits = count_digits(lexer, length + 1 + sign);
        if (digits > 0) {
            kind = TOKEN_REAL;
            length += 1 + sign + digits;
        }
    }
    if (is_name_char(look(lexer, length))) {
        diags_add(lexer->diags, DIAG_ERROR, here(lexer),
                  "a letter follows this number; put a blank or an operator between them");
        while (is_name_char(look(lexer, length)))
            length++;
    }
    add_token(lexer, kind, length);
}

static void
lex_string(struct lexer *lexer)
{
    size_t length = 1;
    while (look(lexer, length) != '"' && look(lexer, length) != '\n' &&
           lexer->at + length < lexer->source->length)
        length++;
    if (look(lexer, length) != '"') {
        diags_add(lexer->diags, DIAG_ERROR, here(lexer), "this string has no end; write a \"");
        lexer->at += length;
        return;
    }
    struct token *token = add_token(lexer, TOKEN_STRING, length + 1);
    token->text = arena_strndup(lexer->arena, token->text + 1, length - 1);
    token->length = (uint32_t)(length - 1);
}

static void
lex_sign(struct lexer *lexer)
{
    static const char *const signs[] = {"<=", ">=", "==", "!=", "&&", "||", "+", "-", "*",
                                        "/",  "%",  "<",  ">",  "=",  "!",  "(", ")", "[",
                                        "]",  "{",  "}",  ",",  ":",  ";",  "|", "?"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t length = strlen(signs[i]);
        if (look(lexer, 0) == signs[i][0] && (length == 1 || look(lexer, 1) == signs[i][1])) {
            add_token(lexer, TOKEN_SIGN, length);
            return;
        }
    }
    unsigned char c = (unsigned char)look(lexer, 0);
    if (c > ' ' && c < 127)
        diags_add(lexer->diags, DIAG_ERROR, here(lexer), "'%c' means nothing here; remove it", c);
    else
        diags_add(lexer->diags, DIAG_ERROR, here(lexer),
                  "byte %d means nothing here; programs are plain text, other letters stand in "
                  "comments only",
                  c);
    lexer->at++;
}

static void
skip_comment(struct lexer *lexer)
{
    while (lexer->at < lexer->source->length && look(lexer, 0) != '\n')
        lexer->at++;
}

static void
lex_one(struct lexer *lexer)
{
    char c = look(lexer, 0);
    if (c == '\n') {
        add_token(lexer, TOKEN_NEWLINE, 1);
        lexer->line++;
        lexer->line_start = lexer->at;
    } else if (c == ' ' || c == '\t' || c == '\r') {
        lexer->at++;
    } else if (c == '#') {
        skip_comment(lexer);
    } else if (isalpha((unsigned char)c)) {
        lex_name(lexer);
    } else if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)look(lexer, 1)))) {
        lex_number(lexer);
    } else if (c == '.' && look(lexer, 1) == '.' && look(lexer, 2) == '.') {
        add_token(lexer, TOKEN_ELLIPSIS, 3);
    } else if (c == '"') {
        lex_string(lexer);
    } else {
        lex_sign(lexer);
    }
}

struct tokens
lex(struct arena *arena, struct names *names, const struct source *source, struct diags *diags)
{
    struct lexer lexer = {
        .arena = arena, .names = names, .source = source, .diags = diags, .line = 1};
    if (source->length >= 3 && memcmp(source->text, "\xef\xbb\xbf", 3) == 0)
        lexer.at = 3; /* the mark some editors put before UTF-8 */
    while (lexer.at < source->length)
        lex_one(&lexer);
    add_token(&lexer, TOKEN_END, 0);
    return lexer.tokens;
}
