/* The schedules in a kernel file that the micro-coder wrote. Above each kernel stands its title:
 *
 *     / * softmax, case wide
 *      *
 *      *   Y: r@p do(M) j@v
 *      * /
 *
 * A file without such a title was written by somebody else. */
#include "coder/coder.h"

#include <string.h>

static const char indent[] = " *   ";

/* The line's end, and the start of the next in *next. */
static const char *
line_end(const char *at, const char *end, const char **next)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    *next = newline ? newline + 1 : end;
    return newline ? newline : end;
}

/* "/ * NAME, case CASE": the case, or NULL. */
static const char *
title_of(struct arena *arena, const char *at, const char *end)
{
    static const char open[] = "/* ", middle[] = ", case ";
    size_t length = (size_t)(end - at);
    if (length < strlen(open) || memcmp(at, open, strlen(open)) != 0)
        return NULL;
    const char *found = memmem(at, length, middle, strlen(middle));
    if (found == NULL || memchr(at, '\0', length) || memmem(at, length, "*/", 2))
        return NULL;
    found += strlen(middle);
    return arena_strndup(arena, found, (size_t)(end - found));
}

/* What follows a title, up to the end of the comment; *at stands behind it then. */
static const char *
lines_of(struct arena *arena, const char **at, const char *end)
{
    struct buf text = buf_in(arena);
    const char *next, *stop = line_end(*at, end, &next);
    if (stop - *at != 2 || memcmp(*at, " *", 2) != 0)
        return NULL;
    for (*at = next; *at < end; *at = next) {
        stop = line_end(*at, end, &next);
        size_t length = (size_t)(stop - *at);
        if (length == 3 && !memcmp(*at, " */", 3))
            return text.data ? text.data : "";
        if (length < strlen(indent) || memcmp(*at, indent, strlen(indent)) != 0 ||
            memchr(*at, '\0', length) != NULL)
            return NULL;
        buf_add(&text, *at + strlen(indent), length - strlen(indent));
        buf_putc(&text, '\n');
    }
    return NULL;
}

size_t
coder_titles(struct arena *arena, const char *text, size_t length, struct coder_title **titles)
{
    const char *end = text + length, *next;
    struct coder_title *found = NULL;
    size_t count = 0;
    for (const char *at = text; at < end; at = next) {
        const char *stop = line_end(at, end, &next);
        const char *name = title_of(arena, at, stop);
        const char *lines = name ? lines_of(arena, &next, end) : NULL;
        if (lines == NULL)
            continue;
        found = arena_grow(arena, found, count, count + 1, sizeof *found);
        found[count++] = (struct coder_title){name, lines};
    }
    *titles = found;
    return count;
}
