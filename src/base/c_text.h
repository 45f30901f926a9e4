/* The text of C, cut into tokens, just as far as it is read here: enough to tell code from comments
 * and to find functions. Nothing is copied. */
#ifndef HONE_BASE_C_TEXT_H
#define HONE_BASE_C_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum c_kind {
    C_END,
    C_WORD,          /* names, keywords, numbers */
    C_QUOTED,        /* "string", 'c' */
    C_MARK,          /* one other character */
    C_LINE_COMMENT,  /* with its slashes, without the newline */
    C_BLOCK_COMMENT, /* with its ends */
};

struct c_token {
    enum c_kind kind;
    const char *start;
    size_t length;
    uint32_t line;
};

struct c_reader {
    const char *at, *end;
    uint32_t line;
};

struct c_reader
c_reader_of(const char *text, size_t length);

/* The next token; after the last one C_END, again and again. */
struct c_token
c_next(struct c_reader *reader);

/* The same, comments left out. */
struct c_token
c_next_code(struct c_reader *reader);

bool
c_is(const struct c_token *token, const char *text);

#endif
