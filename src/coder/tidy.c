/* Tidying C text: which names stand in it, and lines that name what nobody asks for.
 *
 * A part of an expression gets a name before it is known how what it is part of is printed: lane by
 * lane, as a default, not at all. So some names are not used, which a compiler would remark. */
#include "coder/emit_int.h"

#include <ctype.h>
#include <string.h>

static bool
is_name_byte(char c)
{
    return c == '_' || isalnum((unsigned char)c);
}

/* The next name from *at on, comments and strings of the text left out; its length, 0: none. */
static size_t
next_name(const char **at)
{
    const char *p = *at;
    while (*p && !is_name_byte(*p)) {
        const char *end = strncmp(p, "/*", 2) == 0 ? strstr(p + 2, "*/") : NULL;
        p = end != NULL ? end + 2 : p + 1;
    }
    *at = p;
    while (is_name_byte(*p))
        p++;
    return (size_t)(p - *at);
}

bool
tidy_mentions(const char *text, const char *name)
{
    size_t length = strlen(name), found;
    for (const char *at = text; (found = next_name(&at)) > 0; at += found)
        if (found == length && memcmp(at, name, length) == 0)
            return true;
    return false;
}

/* ---- names that are not used ---- */

struct count {
    const char *name;
    size_t length, times;
};

struct counts { /* open addressing */
    struct count *slots;
    size_t capacity;
};

static struct count *
count_of(const struct counts *counts, const char *name, size_t length)
{
    size_t hash = 5381;
    for (size_t i = 0; i < length; i++)
        hash = hash * 33 + (unsigned char)name[i];
    size_t slot = hash & (counts->capacity - 1);
    while (counts->slots[slot].name != NULL &&
           (counts->slots[slot].length != length ||
            memcmp(counts->slots[slot].name, name, length) != 0))
        slot = (slot + 1) & (counts->capacity - 1);
    return &counts->slots[slot];
}

static struct counts
count_names(struct arena *arena, const char *text)
{
    struct counts counts = {.capacity = 64};
    size_t names = 0, found;
    for (const char *at = text; (found = next_name(&at)) > 0; at += found)
        names++;
    while (counts.capacity < 2 * names)
        counts.capacity *= 2;
    counts.slots = arena_array(arena, counts.capacity, sizeof *counts.slots);
    for (const char *at = text; (found = next_name(&at)) > 0; at += found) {
        struct count *count = count_of(&counts, at, found);
        *count = (struct count){at, found, count->times + 1};
    }
    return counts;
}

/* The name that a line declares, `const T name = ...;` or scratch; NULL: it is another. */
static const char *
named_by(const char *line, const char *end, size_t *length)
{
    static const char scratch[] = "__attribute__((aligned(64)));";
    while (line < end && *line == ' ')
        line++;
    const char *stop = NULL;
    if (end - line > 6 && memcmp(line, "const ", 6) == 0) {
        stop = memchr(line, '=', (size_t)(end - line));
        stop = stop != NULL && stop[-1] == ' ' ? stop - 1 : NULL;
    } else if ((size_t)(end - line) > strlen(scratch) &&
               memcmp(end - strlen(scratch), scratch, strlen(scratch)) == 0)
        stop = memchr(line, '[', (size_t)(end - line));
    if (stop == NULL)
        return NULL;
    const char *name = stop;
    while (name > line && is_name_byte(name[-1]))
        name--;
    *length = (size_t)(stop - name);
    return name > line && name[-1] == ' ' ? name : NULL;
}

const char *
tidy_unused(struct arena *arena, const char *text)
{
    for (bool again = true; again;) {
        struct counts counts = count_names(arena, text);
        struct buf out = buf_in(arena);
        again = false;
        for (const char *line = text; *line;) {
            const char *end = line + strcspn(line, "\n");
            size_t length = 0;
            const char *name = named_by(line, end, &length);
            end += *end == '\n';
            if (name != NULL && count_of(&counts, name, length)->times == 1)
                again = true;
            else
                buf_add(&out, line, (size_t)(end - line));
            line = end;
        }
        if (again)
            text = out.length > 0 ? out.data : "";
    }
    return text;
}
