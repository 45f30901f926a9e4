/* A look at C that somebody wrote: what it defines, and whether it ends where it should. */
#include "agent/reply_int.h"

#include <string.h>

/* So that no text can make this look at all of it again and again. */
enum { LONGEST_LIST = 1000 /* tokens of parameters */, MOST_CALLS = 1000 };

bool
agent__is_definition(struct c_reader reader)
{
    struct c_token token = c_next_code(&reader);
    int depth = 0, seen = 0;
    if (!c_is(&token, "("))
        return false;
    do {
        depth += c_is(&token, "(") - c_is(&token, ")");
        token = c_next_code(&reader);
    } while (depth > 0 && token.kind != C_END && ++seen < LONGEST_LIST);
    return depth == 0 && c_is(&token, "{");
}

bool
agent__defines(const char *text, size_t length, const char *name)
{
    struct c_reader reader = c_reader_of(text, length);
    int seen = 0;
    for (struct c_token token = c_next_code(&reader); token.kind != C_END && seen < MOST_CALLS;
         token = c_next_code(&reader)) {
        bool is = token.kind == C_WORD && c_is(&token, name);
        if (is && agent__is_definition(reader))
            return true;
        seen += is;
    }
    return false;
}

bool
agent__balanced(const char *text, size_t length)
{
    struct c_reader reader = c_reader_of(text, length);
    long depth = 0;
    for (struct c_token token = c_next_code(&reader); token.kind != C_END && depth >= 0;
         token = c_next_code(&reader))
        depth += c_is(&token, "{") - c_is(&token, "}");
    return depth == 0;
}
