/* Shared by the two halves of the parser: statements (parse.c) and expressions (parse_expr.c). */
#ifndef HONE_LANG_PARSE_INT_H
#define HONE_LANG_PARSE_INT_H

#include "lang/ast_int.h"

struct parser {
    struct arena *arena;
    struct diags *diags;
    struct tokens tokens;
    size_t at;
    unsigned open;            /* brackets around us: newlines mean nothing inside */
    unsigned nesting;         /* recursion depth */
    const struct token *last; /* taken in this statement: a line goes on after some signs */
    bool failed;              /* this statement has a mistake: stop, skip to the next one */
};

/* The next token, newlines passed over where they do not end the statement. */
const struct token *
parser_peek(struct parser *parser);
const struct token *
parser_take(struct parser *parser);
/* The token after the next one, on the same line. */
const struct token *
parser_second(struct parser *parser);
bool
parser_accept(struct parser *parser, const char *text);
/* Takes `text` or fails with "expected ... ". */
bool
parser_expect(struct parser *parser, const char *text, const char *instead);
void
parser_fail(struct parser *parser, struct place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A name that is not reserved; NULL after reporting. */
const char *
parser_name(struct parser *parser, const char *what);

/* NULL after a mistake. */
const struct ast *
parse_expr(struct parser *parser);
/* left { "," left }: indices with extents, or "..." */
bool
parse_indices(struct parser *parser, const struct ast_index **indices, size_t *count);

#endif
