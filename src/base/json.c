/* JSON as it is written. */
#include "base/json.h"

#include "base/num.h"

#include <math.h>

void
json_put_string(struct buf *buf, const char *text)
{
    if (text == NULL) {
        buf_puts(buf, "null");
        return;
    }
    buf_putc(buf, '"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            buf_printf(buf, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            buf_printf(buf, "\\u%04x", c);
        else
            buf_putc(buf, (char)c);
    }
    buf_putc(buf, '"');
}

void
json_put_number(struct buf *buf, double value)
{
    if (!isfinite(value))
        buf_puts(buf, "null");
    else if (value == floor(value) && fabs(value) < 1e15)
        buf_printf(buf, "%.0f", value);
    else
        num_put_double(buf, value);
}

void
json_field_string(struct buf *buf, const char *name, const char *text)
{
    buf_printf(buf, ",\"%s\":", name);
    json_put_string(buf, text);
}

void
json_field_number(struct buf *buf, const char *name, double value)
{
    buf_printf(buf, ",\"%s\":", name);
    json_put_number(buf, value);
}

void
json_field_bool(struct buf *buf, const char *name, bool value)
{
    buf_printf(buf, ",\"%s\":%s", name, value ? "true" : "false");
}
