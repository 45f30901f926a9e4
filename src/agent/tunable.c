/* The text of a kernel: the numbers that it declares. */
#include "agent/agent.h"

#include "base/c_text.h"
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TUNABLES = 16, MOST_VALUES = 64, MOST_DIGITS = 12 };

/* ---- //! tune ---- */

static size_t
name_length(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_')
        length++;
    return isdigit((unsigned char)*at) ? 0 : length;
}

/* A whole number with nothing behind it but blanks or the list's signs; its end, or NULL. */
static const char *
read_value(const char *at, long *value)
{
    size_t digits = strspn(at + (*at == '-'), "0123456789");
    const char *end = at + (*at == '-') + digits;
    if (digits == 0 || digits > MOST_DIGITS || strchr(" \t,\n", *end) == NULL)
        return NULL;
    *value = strtol(at, NULL, 10);
    return end;
}

static bool
add_value(struct agent_tunable *tunable, long *values, long value)
{
    for (size_t i = 0; i < tunable->value_count; i++)
        if (values[i] == value)
            return true;
    if (tunable->value_count == MOST_VALUES)
        return false;
    values[tunable->value_count++] = value;
    return true;
}

/* " T = 4 8 16" of a comment. False: it is no such declaration. */
static bool
read_tune(struct arena *arena, const struct c_token *comment, struct agent_tunable *tunable)
{
    const char *text = arena_strndup(arena, comment->start, comment->length);
    if (comment->kind != C_LINE_COMMENT || !text_starts(text, "//!"))
        return false;
    text += 3 + strspn(text + 3, " \t");
    if (!text_starts(text, "tune"))
        return false;
    text += 4 + strspn(text + 4, " \t");
    size_t length = name_length(text);
    const char *at = text + length + strspn(text + length, " \t");
    if (length == 0 || *at != '=')
        return false;
    long *values = arena_array(arena, MOST_VALUES + 1, sizeof *values), value;
    *tunable = (struct agent_tunable){.name = arena_strndup(arena, text, length), .values = values};
    for (at += 1 + strspn(at + 1, " \t,"); *at; at += strspn(at, " \t,")) {
        at = read_value(at, &value);
        if (at == NULL || !add_value(tunable, values, value))
            return false;
    }
    return tunable->value_count > 0;
}

/* Where the number in `#define NAME number` begins, or NULL. */
static const char *
find_define(const char *kernel, const char *name, long *value)
{
    struct c_reader reader = c_reader_of(kernel, strlen(kernel));
    for (struct c_token token = c_next_code(&reader); token.kind != C_END;) {
        bool hash = c_is(&token, "#");
        token = c_next_code(&reader);
        if (!hash || !c_is(&token, "define"))
            continue;
        token = c_next_code(&reader);
        if (!c_is(&token, name))
            continue;
        const char *at = token.start + token.length;
        at += strspn(at, " \t");
        return read_value(at, value) != NULL ? at : NULL;
    }
    return NULL;
}

static int
by_value(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

/* Which value is set: the defined one, which joins the list if it is not there, else the first. */
static void
find_now(const char *kernel, struct agent_tunable *tunable)
{
    long *values = (long *)tunable->values, now = values[0], defined;
    if (find_define(kernel, tunable->name, &defined) != NULL && add_value(tunable, values, defined))
        now = defined;
    qsort(values, tunable->value_count, sizeof *values, by_value);
    while (values[tunable->now] != now)
        tunable->now++;
}

size_t
agent_tunables(struct arena *arena, const char *kernel, struct agent_tunable **tunables)
{
    struct agent_tunable *list = arena_array(arena, MOST_TUNABLES, sizeof *list);
    struct c_reader reader = c_reader_of(kernel, strlen(kernel));
    size_t count = 0;
    for (struct c_token token = c_next(&reader); token.kind != C_END && count < MOST_TUNABLES;
         token = c_next(&reader)) {
        bool known = false;
        if (token.kind != C_LINE_COMMENT || !read_tune(arena, &token, &list[count]))
            continue;
        for (size_t i = 0; i < count; i++)
            known = known || strcmp(list[i].name, list[count].name) == 0;
        if (!known)
            find_now(kernel, &list[count++]);
    }
    *tunables = list;
    return count;
}

/* ---- setting them ---- */

static const struct agent_tunable *
named(const struct agent_tunable *tunables, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(tunables[i].name, name) == 0)
            return &tunables[i];
    return NULL;
}

static void
put_tune(struct buf *buf, const struct agent_tunable *tunable)
{
    buf_printf(buf, "//! tune %s = %ld", tunable->name, tunable->values[tunable->now]);
    for (size_t i = 0; i < tunable->value_count; i++)
        if (i != tunable->now)
            buf_printf(buf, " %ld", tunable->values[i]);
}

static const char *
with_define(struct arena *arena, const char *kernel, const struct agent_tunable *tunable)
{
    long old;
    const char *at = find_define(kernel, tunable->name, &old);
    if (at == NULL)
        return kernel;
    return arena_printf(arena, "%.*s%ld%s", (int)(at - kernel), kernel,
                        tunable->values[tunable->now], at + strcspn(at, " \t,\n"));
}

const char *
agent_tune(struct arena *arena, const char *kernel, const struct agent_tunable *tunables,
           size_t count)
{
    struct c_reader reader = c_reader_of(kernel, strlen(kernel));
    struct buf buf = buf_in(arena);
    const char *from = kernel;
    for (struct c_token token = c_next(&reader); token.kind != C_END; token = c_next(&reader)) {
        struct agent_tunable read;
        const struct agent_tunable *tunable =
            token.kind == C_LINE_COMMENT && read_tune(arena, &token, &read)
                ? named(tunables, count, read.name)
                : NULL;
        if (tunable == NULL)
            continue;
        buf_add(&buf, from, (size_t)(token.start - from));
        put_tune(&buf, tunable);
        from = token.start + token.length;
    }
    buf_puts(&buf, from);
    const char *text = buf.length > 0 ? buf.data : "";
    for (size_t i = 0; i < count; i++)
        text = with_define(arena, text, &tunables[i]);
    return text;
}
