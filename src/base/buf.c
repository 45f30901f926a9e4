#include "base/buf.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

struct buf
buf_in(struct arena *arena)
{
    return (struct buf){
        .arena = arena, .data = arena_alloc(arena, FIRST_CAPACITY), .capacity = FIRST_CAPACITY};
}

/* Room for `more` bytes and the zero behind them. The old text stays in the arena: its size at most
 * doubles the cost, and a text may be added to itself. */
static void
make_room(struct buf *buf, size_t more)
{
    size_t needed, capacity = buf->capacity;

    if (__builtin_add_overflow(buf->length + 1, more, &needed))
        needed = SIZE_MAX; /* which the arena refuses */
    if (needed <= capacity)
        return;
    while (capacity < needed)
        capacity = capacity > SIZE_MAX / 2 ? SIZE_MAX : capacity * 2;
    buf->data = arena_grow(buf->arena, buf->data, buf->length + 1, capacity, 1);
    buf->capacity = capacity;
}

void
buf_add(struct buf *buf, const void *bytes, size_t count)
{
    if (count == 0)
        return;
    make_room(buf, count);
    memcpy(buf->data + buf->length, bytes, count);
    buf->length += count;
    buf->data[buf->length] = '\0';
}

void
buf_puts(struct buf *buf, const char *text)
{
    buf_add(buf, text, strlen(text));
}

void
buf_putc(struct buf *buf, char c)
{
    buf_add(buf, &c, 1);
}

void
buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    buf_vprintf(buf, format, args);
    va_end(args);
}

void
buf_vprintf(struct buf *buf, const char *format, va_list args)
{
    va_list again;
    size_t room = buf->capacity - buf->length;
    int length;

    va_copy(again, args);
    length = vsnprintf(buf->data + buf->length, room, format, args);
    assert(length >= 0);
    if ((size_t)length >= room) {
        buf->data[buf->length] = '\0';
        make_room(buf, (size_t)length);
        vsnprintf(buf->data + buf->length, (size_t)length + 1, format, again);
    }
    va_end(again);
    buf->length += (size_t)length;
}
