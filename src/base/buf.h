/* Text that grows, in an arena. data is always terminated by a zero byte (not counted). */
#ifndef HONE_BASE_BUF_H
#define HONE_BASE_BUF_H

#include "base/arena.h"

#include <stdarg.h>

struct buf {
    struct arena *arena;
    char *data;
    size_t length, capacity;
};

struct buf
buf_in(struct arena *arena);

void
buf_add(struct buf *buf, const void *bytes, size_t count);

void
buf_puts(struct buf *buf, const char *text);

void
buf_putc(struct buf *buf, char c);

void
buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

void
buf_vprintf(struct buf *buf, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

#endif
