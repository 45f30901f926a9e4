/* The screen of `hone schedule`: the filled text with what each line does, advice, the estimate. */
#include "app/schedule.h"

#include <string.h>

#include "base/json.h"
#include "base/num.h"
#include "libhone/face.h"

#define WIDTH 96
#define MOST_LINES 24 /* with words; more are told together */

/* Text broken at blanks; `column` is where it begins, `indent` where later lines do. */
static void
put_wrapped(struct buf *buf, size_t column, unsigned indent, const char *text)
{
    while (*text) {
        size_t word = strcspn(text, " ");
        if (column + word > WIDTH && column > indent) {
            while (buf->length > 0 && buf->data[buf->length - 1] == ' ')
                buf->data[--buf->length] = 0;
            buf_printf(buf, "\n%*s", (int)indent, "");
            column = indent;
        }
        buf_printf(buf, "%.*s", (int)word, text);
        column += word;
        text += word;
        if (*text == ' ') {
            buf_putc(buf, ' ');
            column++;
            text++;
        }
    }
    buf_putc(buf, '\n');
}

static void
put_title(struct buf *buf, const struct schedule_view *view)
{
    const struct coder_machine *machine = &view->machine;
    buf_printf(buf, "%s   case %s%s   vectors of %u x f32, %u registers, %u thread%s\n\n",
               view->program->name, view->program->case_name,
               view->usual ? ", the usual schedule" : "", machine->vector_bytes / 4,
               machine->registers, machine->threads, machine->threads == 1 ? "" : "s");
}

static void
put_lines(struct buf *buf, const struct schedule_view *view, int verbosity)
{
    struct coder_line *lines;
    size_t count = coder_explain_lines(buf->arena, view->schedule, &lines);
    bool words = count <= MOST_LINES || verbosity > 0;
    for (size_t i = 0; i < count; i++) {
        buf_printf(buf, "  %s\n", lines[i].text);
        if (words && *lines[i].does) {
            buf_puts(buf, "      ");
            put_wrapped(buf, 6, 6, lines[i].does);
        }
    }
    if (!words) {
        struct buf how = buf_in(buf->arena);
        coder_explain(&how, view->schedule, &view->machine);
        buf_puts(buf, "\n  ");
        put_wrapped(buf, 2, 2, how.data);
    }
}

/* The stages that the same advice is given to later on; they are passed over then. */
static size_t
find_others(const struct coder_advice *advice, size_t count, size_t at, bool *told)
{
    size_t others = 0;
    for (size_t i = at + 1; i < count; i++)
        if (!told[i] && !strcmp(advice[i].text, advice[at].text)) {
            told[i] = true;
            others++;
        }
    return others;
}

static void
put_advice(struct buf *buf, const struct schedule_view *view, int verbosity)
{
    struct coder_advice *advice;
    size_t count = coder_advise(buf->arena, view->schedule, &view->machine, &advice), shown = 0;
    bool *told = arena_array(buf->arena, count + 1, sizeof *told);
    if (count > 0)
        buf_puts(buf, "\n");
    for (size_t i = 0; i < count; i++) {
        size_t start = buf->length;
        if (told[i] || (shown == MOST_LINES && verbosity <= 0))
            continue;
        size_t others = find_others(advice, count, i, told);
        told[i] = true;
        buf_printf(buf, "  %s%s", shown++ == 0 ? "advice    " : "          ", advice[i].stage);
        if (others > 0)
            buf_printf(buf, " and %zu other%s", others, others > 1 ? "s" : "");
        buf_puts(buf, ": ");
        put_wrapped(buf, buf->length - start, 14, advice[i].text);
    }
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        left += !told[i];
    if (left > 0)
        buf_printf(buf, "            and %zu more: -v\n", left);
}

void
schedule_screen(struct buf *buf, const struct schedule_view *view, int verbosity)
{
    put_title(buf, view);
    put_lines(buf, view, verbosity);
    put_advice(buf, view, verbosity);
    buf_puts(buf, "\n  estimate  ");
    num_put_time(buf, coder_estimate_us(view->schedule, &view->machine));
    buf_puts(buf, " by the text alone\n");
    if (verbosity >= 0)
        buf_puts(buf, "--emit prints the C, --judge measures it.\n");
}

void
schedule_json(struct buf *buf, const struct schedule_view *view)
{
    struct buf text = buf_in(buf->arena), how = buf_in(buf->arena);
    struct coder_line *lines;
    struct coder_advice *advice;
    size_t line_count = coder_explain_lines(buf->arena, view->schedule, &lines);
    size_t advice_count = coder_advise(buf->arena, view->schedule, &view->machine, &advice);
    coder_write(&text, view->schedule);
    coder_explain(&how, view->schedule, &view->machine);
    buf_puts(buf, "{\"op\":");
    json_put_string(buf, view->program->name);
    buf_puts(buf, ",\"case\":");
    json_put_string(buf, view->program->case_name);
    buf_printf(buf, ",\"width\":%u,\"schedule\":", 8 * view->machine.vector_bytes);
    json_put_string(buf, text.length ? text.data : "");
    buf_puts(buf, ",\"how\":");
    json_put_string(buf, how.length ? how.data : "");
    buf_puts(buf, ",\"lines\":[");
    for (size_t i = 0; i < line_count; i++) {
        buf_puts(buf, i ? ",{\"text\":" : "{\"text\":");
        json_put_string(buf, lines[i].text);
        buf_puts(buf, ",\"stage\":");
        if (lines[i].stage != NULL)
            json_put_string(buf, lines[i].stage);
        else
            buf_puts(buf, "null");
        buf_puts(buf, ",\"does\":");
        json_put_string(buf, lines[i].does);
        buf_putc(buf, '}');
    }
    buf_puts(buf, "],\"advice\":[");
    for (size_t i = 0; i < advice_count; i++) {
        buf_puts(buf, i ? ",{\"stage\":" : "{\"stage\":");
        json_put_string(buf, advice[i].stage);
        buf_puts(buf, ",\"text\":");
        json_put_string(buf, advice[i].text);
        buf_putc(buf, '}');
    }
    buf_printf(buf, "],\"estimate_us\":%.4g}\n", coder_estimate_us(view->schedule, &view->machine));
}
