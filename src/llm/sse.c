#include "llm/sse_int.h"

#include <stdio.h>
#include <string.h>

struct sse
sse_create(struct arena *arena, size_t limit,
           void (*take)(void *user, const char *event, const char *data, size_t length), void *user)
{
    return (struct sse){
        .line = buf_in(arena), .data = buf_in(arena), .limit = limit, .take = take, .user = user};
}

/* The memory stays: a stream has thousands of lines. */
static void
empty(struct buf *buf)
{
    buf->length = 0;
    buf->data[0] = '\0';
}

static void
dispatch(struct sse *sse)
{
    if (sse->has_data)
        sse->take(sse->user, sse->event, sse->data.data, sse->data.length);
    sse->has_data = false;
    sse->event[0] = '\0';
    empty(&sse->data);
}

static bool
add_data(struct sse *sse, const char *bytes, size_t count)
{
    if (sse->data.length + count + 1 > sse->limit)
        return false;
    if (sse->has_data)
        buf_putc(&sse->data, '\n');
    buf_add(&sse->data, bytes, count);
    sse->has_data = true;
    return true;
}

/* The value behind a field's name, if the line has that field; one blank after the colon is not
 * part of it. */
static const char *
value_of(const char *line, const char *field)
{
    size_t length = strlen(field);
    if (strncmp(line, field, length) != 0 || line[length] != ':')
        return NULL;
    line += length + 1;
    return line + (*line == ' ');
}

static bool
take_line(struct sse *sse)
{
    const char *line = sse->line.data, *value;
    bool fits = true;
    if (!sse->begun && !memcmp(line, "\xef\xbb\xbf", 3))
        line += 3; /* a byte order mark */
    sse->begun = true;
    if (*line == '\0' && sse->line.length == (size_t)(line - sse->line.data))
        dispatch(sse);
    else if ((value = value_of(line, "data")) != NULL)
        fits = add_data(sse, value, sse->line.length - (size_t)(value - sse->line.data));
    else if ((value = value_of(line, "event")) != NULL)
        snprintf(sse->event, sizeof sse->event, "%s", value);
    else if (*line == '{') { /* an error that somebody wrote without a field */
        dispatch(sse);
        fits = add_data(sse, line, sse->line.length - (size_t)(line - sse->line.data));
        dispatch(sse);
    }
    empty(&sse->line);
    return fits;
}

bool
sse_feed(struct sse *sse, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count;) {
        bool skip = sse->after_cr && bytes[i] == '\n';
        sse->after_cr = false;
        if (skip) {
            i++;
            continue;
        }
        size_t length = 0;
        while (i + length < count && bytes[i + length] != '\n' && bytes[i + length] != '\r')
            length++;
        if (sse->line.length + length > sse->limit)
            return false;
        buf_add(&sse->line, bytes + i, length);
        i += length;
        if (i == count)
            break;
        sse->after_cr = bytes[i++] == '\r';
        if (!take_line(sse))
            return false;
    }
    return true;
}

bool
sse_end(struct sse *sse)
{
    bool fits = sse->line.length == 0 || take_line(sse);
    dispatch(sse);
    return fits;
}
