#include "app/screen.h"

#include <langinfo.h>
#include <math.h>
#include <string.h>

bool
screen_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* ---- widths ---- */

static bool
begins_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

static size_t
width_of(const char *text, size_t length)
{
    size_t width = 0;
    for (size_t i = 0; i < length; i++)
        width += begins_character(text[i]);
    return width;
}

size_t
screen_width(const char *text)
{
    return width_of(text, strlen(text));
}

void
screen_pad(struct buf *buf, size_t start, size_t width)
{
    for (size_t now = buf->length > start ? width_of(buf->data + start, buf->length - start) : 0;
         now < width; now++)
        buf_putc(buf, ' ');
}

/* Bytes of the first `width` columns, at most `length`. */
static size_t
bytes_of(const char *text, size_t length, size_t width)
{
    size_t bytes = 0;
    while (bytes < length && (width > 0 || !begins_character(text[bytes])))
        width -= begins_character(text[bytes++]);
    return bytes;
}

const char *
screen_cut(struct arena *arena, const char *text, size_t width)
{
    size_t length = strcspn(text, "\n");
    bool more = text[length] != '\0' && text[length + 1] != '\0';
    if (!more && width_of(text, length) <= width)
        return arena_strndup(arena, text, length);
    size_t bytes = bytes_of(text, length, width > 4 ? width - 4 : width);
    while (bytes > 0 && text[bytes - 1] == ' ')
        bytes--;
    return arena_printf(arena, "%.*s%s", (int)bytes, text, width > 4 ? " ..." : "");
}

/* ---- paragraphs ---- */

/* Bytes of the next line: up to a newline, or to the last blank that fits. */
static size_t
line_length(const char *text, size_t width)
{
    size_t length = strcspn(text, "\n");
    if (width_of(text, length) <= width)
        return length;
    size_t most = bytes_of(text, length, width), blank = most;
    while (blank > 0 && text[blank] != ' ')
        blank--;
    return blank > 0 ? blank : most;
}

void
screen_paragraph(struct buf *buf, const char *title, size_t indent, const char *text)
{
    while (*text) {
        size_t length = line_length(text, SCREEN_WIDTH - indent), shown = length;
        while (shown > 0 && text[shown - 1] == ' ')
            shown--;
        if (shown > 0) {
            size_t start = buf->length;
            buf_puts(buf, title);
            screen_pad(buf, start, indent);
            buf_printf(buf, "%.*s\n", (int)shown, text);
            title = "";
        }
        text += length;
        text += *text == '\n' || *text == ' ';
    }
}

/* ---- figures ---- */

const char *
screen_clock(struct arena *arena, double seconds)
{
    long whole = seconds > 0 ? (long)seconds : 0;
    if (whole >= 3600)
        return arena_printf(arena, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
    return arena_printf(arena, "%ld:%02ld", whole / 60, whole % 60);
}

const char *
screen_age(struct arena *arena, double seconds)
{
    if (seconds < 60)
        return arena_printf(arena, "%.0f s", fmax(seconds, 0));
    if (seconds < 3600)
        return arena_printf(arena, "%.0f min", floor(seconds / 60));
    if (seconds < 86400)
        return arena_printf(arena, "%.0f h", floor(seconds / 3600));
    return arena_printf(arena, "%.0f d", floor(seconds / 86400));
}

const char *
screen_number(struct arena *arena, int64_t number)
{
    const char *digits = arena_printf(arena, "%lld", (long long)number);
    struct buf buf = buf_in(arena);
    for (size_t left = strlen(digits); left > 0; left--) {
        buf_putc(&buf, *digits++);
        if (left > 1 && left % 3 == 1 && digits[-1] != '-')
            buf_putc(&buf, ',');
    }
    return buf.data;
}

const char *
screen_tokens(struct arena *arena, double tokens)
{
    if (tokens < 1000)
        return arena_printf(arena, "%.0f", tokens);
    return arena_printf(arena, tokens < 9950 ? "%.1fk" : "%.0fk", tokens / 1000);
}

const char *
screen_percent(struct arena *arena, double share)
{
    double percent = 100 * fabs(share);
    return arena_printf(arena, percent < 0.95 ? "%.1f" : "%.0f", percent);
}
