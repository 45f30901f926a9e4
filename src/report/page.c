/* A page out of its pieces.
 *
 * What is shown may come from a model, whose reply may try to end the script and to begin its own.
 * Three things keep it data: the block is JSON, which no browser runs; in it the characters by
 * which HTML could end the block are written as escapes of JSON, which mean the same in every
 * string (and stand nowhere else in JSON); and the scripts put text into the page as text. */
#include "report/report.h"

#include "report/page_int.h"

#include "base/text.h"

static void
put_title(struct buf *buf, const char *title)
{
    for (; *title; title++) {
        if (*title == '<')
            buf_puts(buf, "&lt;");
        else if (*title == '&')
            buf_puts(buf, "&amp;");
        else
            buf_putc(buf, *title);
    }
}

static void
put_data(struct buf *buf, const char *json)
{
    size_t start = buf->length;
    for (; *json; json++) {
        if (*json == '<' || *json == '>' || *json == '&')
            buf_printf(buf, "\\u%04x", (unsigned)*json);
        else
            buf_putc(buf, *json);
    }
    if (buf->length > start)
        text_printable(buf->data + start);
}

void
report_put_page(struct buf *buf, enum report_kind kind, const char *title, const char *json)
{
    static const char *const scripts[] = {
#define X(id, script) report__##script,
        REPORT_KINDS(X)
#undef X
    };
    buf_puts(buf, report__page_html);
    buf_puts(buf, "<title>");
    put_title(buf, title);
    buf_puts(buf, "</title>\n<style>\n");
    buf_puts(buf, report__style_css);
    buf_puts(buf,
             "</style>\n</head>\n<body>\n<main><noscript><p>The figures of this page are drawn "
             "by a script in it, which needs JavaScript.</p></noscript></main>\n"
             "<script type=\"application/json\" id=\"data\">");
    put_data(buf, json);
    buf_puts(buf, "</script>\n<script>\n");
    buf_puts(buf, report__draw_js);
    buf_puts(buf, scripts[kind]);
    buf_puts(buf, "</script>\n</body>\n</html>\n");
}
