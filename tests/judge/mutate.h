/* One fault in a correct kernel: where it could be put, in six classes.
 *
 * The text is cut into tokens, no more: brackets are matched, declarations are recognised by their
 * type words. Comments, strings, preprocessor lines (`//!` lines are comments), assembly, sizeof
 * and all that stands outside of functions are left alone. A fault replaces one stretch of the text
 * by another; a mutant is the whole text with it.
 *
 *   operator   another operator, another function of a pair: fmaxf fminf, _mm_add_ps _mm_sub_ps
 *   constant   another number
 *   bound      a for loop that begins or ends one too early or too late
 *   dropped    a statement that is not there, a loop too
 *   index      a subscript one off, or two index variables exchanged in it
 *   precision  a float rounded through f16, or cut to the bits of tf32 or bf16 */
#ifndef HONE_TESTS_MUTATE_H
#define HONE_TESTS_MUTATE_H

#include "base/buf.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*    id         name */
#define MUTATE_CLASSES(X)   \
    X(OPERATOR, "operator") \
    X(CONSTANT, "constant") \
    X(BOUND, "bound")       \
    X(DROPPED, "dropped")   \
    X(INDEX, "index")       \
    X(PRECISION, "precision")

enum mutate_class {
#define X(id, name) MUTATE_##id,
    MUTATE_CLASSES(X)
#undef X
        MUTATE_CLASS_COUNT
};

static const char *const mutate_class_name[MUTATE_CLASS_COUNT] = {
#define X(id, name) name,
    MUTATE_CLASSES(X)
#undef X
};

struct mutate_fault {
    enum mutate_class class;
    size_t at, length; /* what is replaced */
    const char *text;  /* by what */
    uint32_t line;
};

enum mutate_kind { MUTATE_WORD, MUTATE_NUMBER, MUTATE_MARK };

struct mutate_token {
    enum mutate_kind kind;
    size_t at, length;
    uint32_t line;
    size_t match;    /* of a bracket: its partner; else its own number */
    bool alone;      /* not to be touched */
    bool after_hash; /* a preprocessor line stands before it */
    bool in_for;     /* between the parentheses of a for */
    bool declared;   /* part of a declarator */
    bool starts;     /* a statement */
};

struct mutate_name {
    size_t token;
    bool real, many; /* float or double; an array or a pointer */
};

struct mutate {
    struct arena *arena;
    const char *source;
    size_t length;
    struct mutate_token *tokens;
    size_t count;
    struct mutate_name *names;
    size_t name_count;
    struct mutate_fault *faults;
    size_t fault_count, fault_capacity;
    enum mutate_class class; /* now wanted */
};

/* ---- tokens ---- */

static inline bool
mutate_is(const struct mutate *m, size_t i, const char *text)
{
    return i < m->count && strlen(text) == m->tokens[i].length &&
           !memcmp(m->source + m->tokens[i].at, text, m->tokens[i].length);
}

/* One of the words of a list separated by blanks. */
static inline bool
mutate_among(const struct mutate *m, size_t i, const char *list)
{
    while (i < m->count && *list) {
        size_t length = strcspn(list, " ");
        if (length == m->tokens[i].length && !memcmp(m->source + m->tokens[i].at, list, length))
            return true;
        list += length + strspn(list + length, " ");
    }
    return false;
}

/* The end of a comment, a string or a preprocessor line that begins at `i`; `i`: none does. */
static inline size_t
mutate_pass_over(const char *s, size_t i, size_t length, bool first_in_line)
{
    if (s[i] == '/' && i + 1 < length && s[i + 1] == '*') {
        const char *end = strstr(s + i + 2, "*/");
        return end ? (size_t)(end - s) + 2 : length;
    }
    if (s[i] == '/' && i + 1 < length && s[i + 1] == '/')
        return i + strcspn(s + i, "\n");
    if (s[i] == '#' && first_in_line) {
        while (i < length && s[i] != '\n')
            i += s[i] == '\\' && i + 1 < length ? 2 : 1;
        return i;
    }
    if (s[i] == '"' || s[i] == '\'') {
        char quote = s[i++];
        while (i < length && s[i] != quote)
            i += s[i] == '\\' && i + 1 < length ? 2 : 1;
        return i < length ? i + 1 : length;
    }
    return i;
}

static inline size_t
mutate_mark_length(const char *s)
{
    static const char *const marks[] = {"<<=", ">>=", "...", "->", "++", "--", "<<", ">>",
                                        "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
                                        "*=",  "/=",  "%=",  "&=", "|=", "^="};

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (!strncmp(s, marks[i], strlen(marks[i])))
            return strlen(marks[i]);
    return 1;
}

static inline size_t
mutate_token_length(const char *s, enum mutate_kind *kind)
{
    size_t n = 0;

    if (isalpha((unsigned char)*s) || *s == '_') {
        *kind = MUTATE_WORD;
        while (isalnum((unsigned char)s[n]) || s[n] == '_')
            n++;
        return n;
    }
    if (isdigit((unsigned char)*s) || (*s == '.' && isdigit((unsigned char)s[1]))) {
        bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
        *kind = MUTATE_NUMBER;
        while (isalnum((unsigned char)s[n]) || s[n] == '.' ||
               (n > 0 && (s[n] == '+' || s[n] == '-') && strchr(hex ? "pP" : "eE", s[n - 1])))
            n++;
        return n;
    }
    *kind = MUTATE_MARK;
    return mutate_mark_length(s);
}

static inline void
mutate_cut(struct mutate *m)
{
    const char *s = m->source;
    uint32_t line = 1;
    bool first = true, hash = false;

    m->tokens = arena_array(m->arena, m->length + 1, sizeof *m->tokens);
    for (size_t i = 0; i < m->length;) {
        size_t end = mutate_pass_over(s, i, m->length, first);
        if (end > i) {
            hash = hash || s[i] == '#';
            for (; i < end; i++)
                line += s[i] == '\n';
            continue;
        }
        if (isspace((unsigned char)s[i])) {
            first = first || s[i] == '\n';
            line += s[i++] == '\n';
            continue;
        }
        struct mutate_token *token = &m->tokens[m->count];
        *token = (struct mutate_token){.at = i, .line = line, .match = m->count++};
        token->after_hash = hash;
        token->length = mutate_token_length(s + i, &token->kind);
        i += token->length;
        first = hash = false;
    }
}

/* Pairs of brackets. Where they do not fit (macros, #if), all is left alone. */
static inline bool
mutate_match(struct mutate *m)
{
    size_t *open = arena_array(m->arena, m->count + 1, sizeof *open), depth = 0;

    for (size_t i = 0; i < m->count; i++) {
        if (mutate_among(m, i, "( [ {"))
            open[depth++] = i;
        if (!mutate_among(m, i, ") ] }"))
            continue;
        if (depth == 0)
            return false;
        m->tokens[i].match = open[--depth];
        m->tokens[open[depth]].match = i;
    }
    return depth == 0;
}

/* ---- what the tokens are ---- */

static inline bool
mutate_is_type(const struct mutate *m, size_t i)
{
    const struct mutate_token *token = &m->tokens[i];
    const char *s = m->source + token->at;

    if (i >= m->count || token->kind != MUTATE_WORD)
        return false;
    if (mutate_among(m, i,
                     "void char short int long float double signed unsigned _Bool bool const "
                     "volatile static register extern inline struct union enum typedef _Float16 "
                     "bf16 _Complex complex __m128 __m256 __m512 __m128i __m256i __m512i __m256d "
                     "__m128d restrict _Thread_local __attribute__"))
        return true;
    if (token->length > 2 && !memcmp(s + token->length - 2, "_t", 2))
        return true;
    for (size_t t = 0; t + 1 < m->count; t++) { /* names of typedefs */
        if (!mutate_is(m, t, "typedef"))
            continue;
        for (; t + 1 < m->count && !mutate_is(m, t, ";"); t++)
            if (m->tokens[t].kind == MUTATE_WORD && m->tokens[t].length == token->length &&
                !memcmp(m->source + m->tokens[t].at, s, token->length) &&
                mutate_among(m, t + 1, "; __attribute__"))
                return true;
    }
    return false;
}

static inline void
mutate_leave_alone(struct mutate *m, size_t from, size_t to)
{
    for (size_t i = from; i <= to && i < m->count; i++)
        m->tokens[i].alone = true;
}

/* All outside of functions; assembly, sizeof, attributes. */
static inline void
mutate_find_functions(struct mutate *m)
{
    size_t next = 0;

    for (size_t i = 0; i < m->count; i++) {
        if (!mutate_is(m, i, "{") || i == 0)
            continue;
        size_t end = m->tokens[i].match;
        if (mutate_is(m, i - 1, ")")) {
            mutate_leave_alone(m, next, i);
            next = end;
        }
        i = end;
    }
    mutate_leave_alone(m, next, m->count);
    for (size_t i = 0; i + 1 < m->count; i++)
        if (mutate_among(m, i, "__asm__ asm __attribute__ sizeof _Alignas _Static_assert volatile"))
            for (size_t k = i; k < i + 3 && k < m->count; k++)
                if (mutate_is(m, k, "("))
                    mutate_leave_alone(m, i, m->tokens[k].match);
    for (size_t i = 0; i + 1 < m->count; i++)
        if (mutate_is(m, i, "for") && mutate_is(m, i + 1, "("))
            for (size_t k = i + 1; k <= m->tokens[i + 1].match; k++)
                m->tokens[k].in_for = true;
}

/* Whether a { begins a block and not a list of values. */
static inline bool
mutate_is_block(const struct mutate *m, size_t i)
{
    if (i == 0 || mutate_among(m, i - 1, "; } else do"))
        return true;
    if (mutate_is(m, i - 1, "{"))
        return mutate_is_block(m, i - 1);
    if (!mutate_is(m, i - 1, ")"))
        return false;
    size_t open = m->tokens[i - 1].match;
    return open > 0 && m->tokens[open - 1].kind == MUTATE_WORD && !mutate_is(m, open - 1, "return");
}

static inline void
mutate_find_statements(struct mutate *m)
{
    for (size_t i = 1; i < m->count; i++) {
        bool starts = mutate_among(m, i - 1, "; } else do") && !m->tokens[i].in_for;

        if (mutate_is(m, i - 1, "{"))
            starts = mutate_is_block(m, i - 1);
        if (mutate_is(m, i - 1, ")") && m->tokens[i - 1].match > 0)
            starts = mutate_among(m, m->tokens[i - 1].match - 1, "for if while switch");
        m->tokens[i].starts = starts;
    }
}

/* From behind the type words at `i`: each name up to the ; or ) that ends them. */
static inline void
mutate_read_declarators(struct mutate *m, size_t i, bool real)
{
    for (;;) {
        bool many = false;

        while (mutate_among(m, i, "* const restrict")) {
            many = many || mutate_is(m, i, "*");
            i++;
        }
        if (i >= m->count || m->tokens[i].kind != MUTATE_WORD || mutate_is(m, i + 1, "("))
            return;
        size_t name = i;
        m->tokens[i++].declared = true;
        while (mutate_is(m, i, "[")) {
            for (size_t k = i; k <= m->tokens[i].match; k++)
                m->tokens[k].declared = true;
            i = m->tokens[i].match + 1;
            many = true;
        }
        m->names[m->name_count++] = (struct mutate_name){name, real, many};
        while (i < m->count && !mutate_among(m, i, ", ; ) }"))
            i = m->tokens[i].match > i ? m->tokens[i].match + 1 : i + 1;
        if (!mutate_is(m, i, ",") || mutate_is_type(m, i + 1))
            return;
        i++;
    }
}

static inline void
mutate_find_names(struct mutate *m)
{
    m->names = arena_array(m->arena, m->count + 1, sizeof *m->names);
    for (size_t i = 0; i + 1 < m->count; i++) {
        bool real = false, complex = false;

        if (!mutate_is_type(m, i) || (i > 0 && mutate_is(m, i - 1, "*")))
            continue;
        for (; i < m->count && mutate_is_type(m, i); i++) {
            real = real || mutate_among(m, i, "float double");
            complex = complex || mutate_among(m, i, "_Complex complex");
        }
        mutate_read_declarators(m, i--, real && !complex);
    }
}

static inline const struct mutate_name *
mutate_name_of(const struct mutate *m, size_t i)
{
    const struct mutate_token *token = &m->tokens[i];
    const struct mutate_name *found = NULL;

    for (size_t n = 0; n < m->name_count && m->names[n].token <= i; n++) {
        const struct mutate_token *other = &m->tokens[m->names[n].token];
        if (other->length == token->length &&
            !memcmp(m->source + other->at, m->source + token->at, token->length))
            found = &m->names[n];
    }
    return found;
}

/* ---- faults ---- */

static inline void
mutate_add(struct mutate *m, size_t at, size_t end, uint32_t line, const char *text)
{
    if (end - at == strlen(text) && !memcmp(m->source + at, text, end - at))
        return;
    if (m->fault_count == m->fault_capacity) {
        m->fault_capacity = 2 * m->fault_capacity + 64;
        m->faults =
            arena_grow(m->arena, m->faults, m->fault_count, m->fault_capacity, sizeof *m->faults);
    }
    m->faults[m->fault_count++] =
        (struct mutate_fault){m->class, at, end - at, arena_strdup(m->arena, text), line};
}

/* Replaces tokens first..last. */
static inline void
mutate_replace(struct mutate *m, size_t first, size_t last, const char *text)
{
    mutate_add(m, m->tokens[first].at, m->tokens[last].at + m->tokens[last].length,
               m->tokens[first].line, text);
}

static inline char *
mutate_text(const struct mutate *m, size_t first, size_t last)
{
    size_t at = m->tokens[first].at;

    return arena_strndup(m->arena, m->source + at,
                         m->tokens[last].at + m->tokens[last].length - at);
}

/* An operator between two operands, not a sign, a star of a pointer or a comma's neighbour. */
static inline bool
mutate_is_binary(const struct mutate *m, size_t i)
{
    size_t before = i - 1;

    if (i == 0 || mutate_is_type(m, before) || mutate_among(m, before, "return case else"))
        return false;
    if (mutate_is(m, before, ")"))
        return !mutate_is_type(m, m->tokens[before].match + 1);
    return m->tokens[before].kind != MUTATE_MARK || mutate_is(m, before, "]");
}

static inline void
mutate_swap_function(struct mutate *m, size_t i)
{
    static const char *const pairs[][2] = {
        {"fmaxf", "fminf"}, {"fminf", "fmaxf"}, {"fmax", "fmin"},       {"fmin", "fmax"},
        {"_max_", "_min_"}, {"_min_", "_max_"}, {"_add_", "_sub_"},     {"_sub_", "_add_"},
        {"_mul_", "_add_"}, {"_div_", "_mul_"}, {"_fmadd_", "_fmsub_"}, {"_fnmadd_", "_fmadd_"},
        {"imin", "imax"},   {"_and_", "_or_"},
    };
    char *name = mutate_text(m, i, i);

    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
        const char *found = strstr(name, pairs[p][0]);
        if (!found || (pairs[p][0][0] == '_' ? strncmp(name, "_mm", 3) : strcmp(name, pairs[p][0])))
            continue;
        mutate_replace(m, i, i,
                       arena_printf(m->arena, "%.*s%s%s", (int)(found - name), name, pairs[p][1],
                                    found + strlen(pairs[p][0])));
    }
}

static inline void
mutate_operators(struct mutate *m)
{
    static const char *const swaps[][2] = {
        {"+", "-"},   {"-", "+"},   {"*", "+"},   {"*", "/"},   {"/", "*"},   {"<", "<="},
        {"<", ">"},   {"<=", "<"},  {"<=", ">="}, {">", ">="},  {">", "<"},   {">=", ">"},
        {">=", "<="}, {"==", "!="}, {"!=", "=="}, {"&&", "||"}, {"||", "&&"}, {"+=", "-="},
        {"-=", "+="}, {"*=", "+="}, {"/=", "*="}, {"%", "/"},   {"<<", ">>"}, {">>", "<<"},
        {"&", "|"},   {"|", "&"},   {"^", "|"},
    };

    for (size_t i = 0; i < m->count; i++) {
        if (m->tokens[i].alone || m->tokens[i].in_for || m->tokens[i].declared)
            continue;
        if (m->tokens[i].kind == MUTATE_WORD && mutate_is(m, i + 1, "("))
            mutate_swap_function(m, i);
        for (size_t s = 0; s < sizeof swaps / sizeof *swaps; s++)
            if (mutate_is(m, i, swaps[s][0]) && mutate_is_binary(m, i))
                mutate_replace(m, i, i, swaps[s][1]);
    }
}

/* The digits of a number from `from` on, one of them made another. */
static inline char *
mutate_digit(const struct mutate *m, size_t i, size_t from)
{
    char *text = mutate_text(m, i, i);
    size_t seen = 0;

    for (char *at = text; *at && !strchr("eEpPfFlLuU", *at); at++)
        if (isdigit((unsigned char)*at) && (seen > 0 || *at != '0') && seen++ == from) {
            *at = *at == '9' ? '8' : (char)(*at + 1);
            return text;
        }
    return NULL;
}

static inline void
mutate_constants(struct mutate *m)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct mutate_token *token = &m->tokens[i];
        if (token->alone || token->in_for || token->kind != MUTATE_NUMBER)
            continue;
        char *text = mutate_text(m, i, i), *digit;
        bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
        bool real = hex ? strpbrk(text, "pP.") != NULL : strpbrk(text, "eE.fF") != NULL;
        bool zero = strtod(text, NULL) == 0;

        mutate_replace(m, i, i, arena_printf(m->arena, "(%s + 1)", text));
        mutate_replace(m, i, i, arena_printf(m->arena, "(%s - 1)", text));
        if (!zero) {
            mutate_replace(m, i, i, arena_printf(m->arena, "(%s * 2)", text));
            mutate_replace(m, i, i, arena_printf(m->arena, "(-%s)", text));
            mutate_replace(m, i, i, real ? "0.0f" : "0");
        }
        for (size_t from = 2; real && !hex && from < 12; from += 2)
            if ((digit = mutate_digit(m, i, from)))
                mutate_replace(m, i, i, digit);
    }
}

/* The operand from `first` to `last`, one more and one less. */
static inline void
mutate_nudge(struct mutate *m, size_t first, size_t last)
{
    if (last < first)
        return;
    if (mutate_is(m, first, "0") && first == last) {
        mutate_replace(m, first, last, "1");
        return;
    }
    const char *text = mutate_text(m, first, last);
    mutate_replace(m, first, last, arena_printf(m->arena, "(%s) + 1", text));
    mutate_replace(m, first, last, arena_printf(m->arena, "(%s) - 1", text));
}

static inline size_t
mutate_find(const struct mutate *m, size_t from, size_t to, const char *list)
{
    while (from < to && !mutate_among(m, from, list))
        from = m->tokens[from].match > from ? m->tokens[from].match + 1 : from + 1;
    return from < to ? from : to;
}

static inline void
mutate_bounds(struct mutate *m)
{
    static const char *const swaps[][2] = {{"<", "<="}, {"<=", "<"}, {">", ">="}, {">=", ">"}};

    for (size_t i = 0; i + 1 < m->count; i++) {
        if (m->tokens[i].alone || !mutate_is(m, i, "for") || !mutate_is(m, i + 1, "("))
            continue;
        size_t end = m->tokens[i + 1].match;
        size_t start = mutate_find(m, i + 2, end, ";");
        size_t stop = mutate_find(m, start + 1, end, ";");
        size_t sign = mutate_find(m, i + 2, start, "=");
        size_t compare = mutate_find(m, start + 1, stop, "< <= > >=");

        if (sign < start)
            mutate_nudge(m, sign + 1, mutate_find(m, sign + 1, start, ",") - 1);
        if (compare == stop)
            continue;
        for (size_t s = 0; s < sizeof swaps / sizeof *swaps; s++)
            if (mutate_is(m, compare, swaps[s][0]))
                mutate_replace(m, compare, compare, swaps[s][1]);
        mutate_nudge(m, compare + 1, mutate_find(m, compare + 1, stop, "&& ||") - 1);
    }
}

/* The last token of the statement that begins at `i`; 0: it does not end. */
static inline size_t
mutate_statement_end(const struct mutate *m, size_t i)
{
    while (mutate_among(m, i, "for while") && mutate_is(m, i + 1, "("))
        i = m->tokens[i + 1].match + 1;
    if (mutate_is(m, i, "if")) /* with its else: too large a piece */
        return 0;
    if (mutate_is(m, i, "{"))
        return m->tokens[i].match;
    i = mutate_find(m, i, m->count, ";");
    return i < m->count ? i : 0;
}

static inline void
mutate_drops(struct mutate *m)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct mutate_token *token = &m->tokens[i];
        if (token->alone || !token->starts || token->after_hash || mutate_is_type(m, i))
            continue;
        if (mutate_among(m, i, "if else do switch return goto case default { } ;") ||
            (token->kind == MUTATE_WORD && m->tokens[i + 1].kind == MUTATE_WORD))
            continue;
        size_t end = mutate_statement_end(m, i);
        bool whole = end > 0;
        for (size_t k = i + 1; k <= end; k++) /* half of it may stand under an #if */
            whole = whole && (!m->tokens[k].after_hash || mutate_is(m, i, "for"));
        if (whole)
            mutate_replace(m, i, end, ";");
    }
}

static inline bool
mutate_is_index(const struct mutate *m, size_t i)
{
    return m->tokens[i].kind == MUTATE_WORD && islower((unsigned char)m->source[m->tokens[i].at]) &&
           !mutate_is_type(m, i) && !mutate_among(m, i + 1, "( [") &&
           !mutate_among(m, i - 1, ". ->");
}

static inline bool
mutate_same_text(const struct mutate *m, size_t a, size_t b)
{
    return m->tokens[a].length == m->tokens[b].length &&
           !memcmp(m->source + m->tokens[a].at, m->source + m->tokens[b].at, m->tokens[a].length);
}

/* Exchanges every two index variables between `first` and `last`. */
static inline void
mutate_exchange(struct mutate *m, size_t first, size_t last)
{
    for (size_t a = first; a <= last; a++)
        for (size_t b = a + 1; b <= last && mutate_is_index(m, a); b++) {
            if (!mutate_is_index(m, b) || mutate_same_text(m, a, b))
                continue;
            const struct mutate_token *x = &m->tokens[a], *y = &m->tokens[b];
            const char *between = m->source + x->at + x->length;
            mutate_replace(m, a, b,
                           arena_printf(m->arena, "%s%.*s%s", mutate_text(m, b, b),
                                        (int)(y->at - x->at - x->length), between,
                                        mutate_text(m, a, a)));
        }
}

static inline void
mutate_indices(struct mutate *m)
{
    for (size_t i = 1; i < m->count; i++) {
        const struct mutate_token *token = &m->tokens[i];
        if (token->alone || token->declared || !mutate_is(m, i, "[") || token->match == i + 1 ||
            !(m->tokens[i - 1].kind == MUTATE_WORD || mutate_among(m, i - 1, ") ]")))
            continue;
        mutate_nudge(m, i + 1, token->match - 1);
        if (mutate_is(m, i - 1, "]"))
            continue; /* the group was seen from its first bracket */
        size_t last = token->match;
        while (mutate_is(m, last + 1, "["))
            last = m->tokens[last + 1].match;
        mutate_exchange(m, i, last);
    }
}

static inline void
mutate_lower(struct mutate *m, size_t first, size_t last, const char *before, const char *value)
{
    static const char *const masks[] = {"0xffff0000u", "0xffffe000u"};

    mutate_replace(m, first, last,
                   arena_printf(m->arena, "%s((float)(_Float16)(%s))", before, value));
    for (size_t i = 0; i < 2; i++)
        mutate_replace(m, first, last,
                       arena_printf(m->arena,
                                    "%s({ union { float f; unsigned u; } low_ = {%s}; "
                                    "low_.u &= %s; low_.f; })",
                                    before, value, masks[i]));
}

static inline void
mutate_lower_vector(struct mutate *m, size_t i)
{
    static const char *const masks[] = {"0xffff0000u", "0xffffe000u"};

    for (size_t k = 0; k < 2; k++)
        mutate_replace(m, i, m->tokens[i + 1].match,
                       arena_printf(m->arena,
                                    "_mm256_and_ps(%s, _mm256_castsi256_ps("
                                    "_mm256_set1_epi32((int)%s)))",
                                    mutate_text(m, i, m->tokens[i + 1].match), masks[k]));
}

/* A float that is read, or one that something is added to. */
static inline void
mutate_lower_name(struct mutate *m, size_t i)
{
    const struct mutate_name *name = mutate_name_of(m, i);
    size_t last = i;

    if (!name || !name->real || mutate_among(m, i - 1, "& . -> ++ -- *"))
        return;
    while (mutate_is(m, last + 1, "["))
        last = m->tokens[last + 1].match;
    if (name->many != (last > i) || mutate_among(m, last + 1, "= -= *= /= ++ -- ("))
        return;
    if (!mutate_is(m, last + 1, "+=")) {
        mutate_lower(m, i, last, "", mutate_text(m, i, last));
        return;
    }
    size_t end = mutate_find(m, last + 2, m->count, ";");
    if (!m->tokens[i].starts || m->tokens[i].after_hash || end >= m->count)
        return;
    const char *left = mutate_text(m, i, last);
    mutate_lower(m, i, end - 1, arena_printf(m->arena, "%s = ", left),
                 arena_printf(m->arena, "%s + (%s)", left, mutate_text(m, last + 2, end - 1)));
}

static inline void
mutate_precisions(struct mutate *m)
{
    for (size_t i = 1; i < m->count; i++) {
        const struct mutate_token *token = &m->tokens[i];
        if (token->alone || token->in_for || token->declared || token->kind != MUTATE_WORD)
            continue;
        if (mutate_among(m, i, "_mm256_loadu_ps _mm256_load_ps") && mutate_is(m, i + 1, "("))
            mutate_lower_vector(m, i);
        else
            mutate_lower_name(m, i);
    }
}

/* All faults of one class that could be put into a text. The text ends with a zero byte; all lives
 * in the arena. */
static inline size_t
mutate_faults(struct arena *arena, const char *source, size_t length, enum mutate_class class,
              struct mutate_fault **faults)
{
    static void (*const finders[MUTATE_CLASS_COUNT])(struct mutate *) = {
        mutate_operators, mutate_constants, mutate_bounds,
        mutate_drops,     mutate_indices,   mutate_precisions};
    struct mutate m = {.arena = arena, .source = source, .length = length, .class = class};

    mutate_cut(&m);
    if (!mutate_match(&m))
        return 0;
    mutate_find_functions(&m);
    mutate_find_statements(&m);
    mutate_find_names(&m);
    finders[class](&m);
    *faults = m.faults;
    return m.fault_count;
}

static inline char *
mutate_apply(struct arena *arena, const char *source, size_t length,
             const struct mutate_fault *fault)
{
    struct buf text = buf_in(arena);

    buf_add(&text, source, fault->at);
    buf_puts(&text, fault->text);
    buf_add(&text, source + fault->at + fault->length, length - fault->at - fault->length);
    return text.data;
}

#endif
