/* The text of C, cut into tokens: enough to tell code from comments and to find a function's
 * parameters. Never fails: what is not closed ends with its line (quotes) or the text (comments).
 */
#include "base/c_text.h"

#include <ctype.h>
#include <string.h>

struct c_reader
c_reader_of(const char *text, size_t length)
{
    static const char mark[] = "\xef\xbb\xbf"; /* some editors put it before UTF-8 */
    struct c_reader reader = {.at = text, .end = text + length, .line = 1};

    if (length >= 3 && !memcmp(text, mark, 3))
        reader.at += 3;
    return reader;
}

static bool
is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static void
step(struct c_reader *reader)
{
    reader->line += *reader->at++ == '\n';
}

static void
skip_blanks(struct c_reader *reader)
{
    while (reader->at < reader->end && isspace((unsigned char)*reader->at))
        step(reader);
}

/* A backslash takes the next character with it, a newline too. */
static void
skip_escaped(struct c_reader *reader)
{
    if (*reader->at == '\\' && reader->at + 1 < reader->end)
        step(reader);
    step(reader);
}

static void
skip_quoted(struct c_reader *reader)
{
    char quote = *reader->at++;

    while (reader->at < reader->end && *reader->at != quote && *reader->at != '\n')
        skip_escaped(reader);
    if (reader->at < reader->end && *reader->at == quote)
        reader->at++;
}

static void
skip_line_comment(struct c_reader *reader)
{
    while (reader->at < reader->end && *reader->at != '\n')
        skip_escaped(reader);
}

static bool
starts(const struct c_reader *reader, const char *two)
{
    return reader->end - reader->at >= 2 && !memcmp(reader->at, two, 2);
}

static void
skip_block_comment(struct c_reader *reader)
{
    reader->at += 2;
    while (reader->at < reader->end && !starts(reader, "*/"))
        step(reader);
    if (reader->at < reader->end)
        reader->at += 2;
}

static enum c_kind
skip_token(struct c_reader *reader)
{
    if (starts(reader, "//")) {
        skip_line_comment(reader);
        return C_LINE_COMMENT;
    }
    if (starts(reader, "/*")) {
        skip_block_comment(reader);
        return C_BLOCK_COMMENT;
    }
    if (*reader->at == '"' || *reader->at == '\'') {
        skip_quoted(reader);
        return C_QUOTED;
    }
    if (!is_word(*reader->at)) {
        reader->at++;
        return C_MARK;
    }
    while (reader->at < reader->end && is_word(*reader->at))
        reader->at++;
    return C_WORD;
}

struct c_token
c_next(struct c_reader *reader)
{
    skip_blanks(reader);
    struct c_token token = {.kind = C_END, .start = reader->at, .line = reader->line};
    if (reader->at < reader->end)
        token.kind = skip_token(reader);
    token.length = (size_t)(reader->at - token.start);
    return token;
}

struct c_token
c_next_code(struct c_reader *reader)
{
    struct c_token token;

    do
        token = c_next(reader);
    while (token.kind == C_LINE_COMMENT || token.kind == C_BLOCK_COMMENT);
    return token;
}

bool
c_is(const struct c_token *token, const char *text)
{
    return token->length == strlen(text) && !memcmp(token->start, text, token->length);
}
