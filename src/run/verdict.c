/* A verdict as JSON; doc/json.md names the fields. */
#include "app/judge.h"

#include <math.h>

#include "base/num.h"
#include "libhone/face.h"

static void
put_number(struct buf *buf, const char *name, double value)
{
    buf_printf(buf, ",\"%s\":", name);
    if (isfinite(value))
        num_put_double(buf, value);
    else
        buf_puts(buf, "null");
}

static void
put_text(struct buf *buf, const char *name, const char *text)
{
    if (text == NULL)
        return;
    buf_printf(buf, ",\"%s\":", name);
    face_json_string(buf, text);
}

static void
put_bool(struct buf *buf, const char *name, bool value)
{
    buf_printf(buf, ",\"%s\":%s", name, value ? "true" : "false");
}

static void
put_time(struct buf *buf, const struct judge_time *time)
{
    buf_printf(buf, ",\"time_us\":{\"samples\":%zu,\"calls\":%zu", time->samples, time->calls);
    put_number(buf, "median", time->median);
    put_number(buf, "min", time->min);
    put_number(buf, "low", time->low);
    put_number(buf, "high", time->high);
    buf_putc(buf, '}');
}

static void
put_pairs(struct buf *buf, const struct judge_case *row)
{
    buf_puts(buf, ",\"speedups\":{");
    for (size_t i = 0; i < row->pair_count; i++) {
        buf_puts(buf, i ? "," : "");
        face_json_string(buf, row->pairs[i].name);
        buf_putc(buf, ':');
        num_put_double(buf, row->pairs[i].speedup);
    }
    buf_puts(buf, "},\"baselines\":[");
    for (size_t i = 0; i < row->pair_count; i++) {
        const struct judge_pair *pair = &row->pairs[i];
        buf_puts(buf, i ? ",{\"name\":" : "{\"name\":");
        face_json_string(buf, pair->name);
        put_text(buf, "flags", pair->flags);
        put_time(buf, &pair->time);
        put_number(buf, "speedup", pair->speedup);
        put_number(buf, "low", pair->low);
        put_number(buf, "high", pair->high);
        put_bool(buf, "same", pair->same);
        buf_putc(buf, '}');
    }
    buf_putc(buf, ']');
}

static void
put_case(struct buf *buf, const struct judge_case *row)
{
    buf_puts(buf, "{\"name\":");
    face_json_string(buf, row->program->case_name);
    put_number(buf, "error_over_gate", row->worst);
    buf_printf(buf, ",\"elements\":%lld,\"unjudged\":%lld", (long long)row->elements,
               (long long)row->unjudged);
    if (row->timed) {
        put_time(buf, &row->time);
        put_number(buf, "light", row->share);
        put_number(buf, "light_us", row->light.us);
        put_text(buf, "limit", row->light.limit);
        buf_printf(buf, ",\"timed_calls_checked\":%zu", row->timed_calls_checked);
        put_pairs(buf, row);
    }
    buf_putc(buf, '}');
}

static void
put_wrong(struct buf *buf, const struct judge_wrong *wrong)
{
    buf_puts(buf, ",\"wrong\":{\"tensor\":");
    face_json_string(buf, wrong->tensor);
    put_text(buf, "case", wrong->case_name);
    put_text(buf, "element", wrong->element);
    put_number(buf, "expected", wrong->expected);
    put_number(buf, "got", wrong->got);
    put_number(buf, "allowed", wrong->allowed);
    put_bool(buf, "unwritten", wrong->unwritten);
    buf_printf(buf, ",\"count\":%lld,\"of\":%lld", (long long)wrong->wrong,
               (long long)wrong->elements);
    put_text(buf, "where", wrong->where);
    put_text(buf, "kinds", wrong->kinds);
    put_text(buf, "looks_like", wrong->guess);
    buf_putc(buf, '}');
}

void
judge_json(struct buf *buf, const char *task, const char *target, const struct trial *trial)
{
    const struct judge_report *report = &trial->report;
    buf_puts(buf, "{\"status\":");
    face_json_string(buf, judge_status_name[report->status]);
    put_text(buf, "reason", report->reason);
    put_text(buf, "file", trial->file);
    put_text(buf, "task", task);
    put_text(buf, "target", target);
    buf_puts(buf, ",\"seed\":\"");
    put_seed(buf, report->seed);
    buf_printf(buf, "\",\"threads\":%u", report->threads);
    put_text(buf, "flags", report->flags);
    put_text(buf, "compiler", report->compiler);
    if (report->line)
        buf_printf(buf, ",\"line\":%u", report->line);
    put_text(buf, "case", report->case_name);
    if (report->details[0])
        put_text(buf, "details", report->details);
    if (report->wrong.tensor)
        put_wrong(buf, &report->wrong);
    buf_puts(buf, ",\"cases\":[");
    for (size_t i = 0; i < report->case_count; i++) {
        buf_puts(buf, i ? "," : "");
        put_case(buf, &report->cases[i]);
    }
    buf_printf(buf, "],\"kinds\":%zu", report->kinds);
    put_bool(buf, "deterministic", report->deterministic);
    put_bool(buf, "same_bits", report->same_bits);
    put_bool(buf, "from_cache", report->from_cache);
    put_number(buf, "compile_seconds", report->compile_seconds);
    put_number(buf, "seconds", report->seconds);
    buf_puts(buf, ",\"notes\":[");
    for (size_t i = 0; i < report->note_count; i++) {
        buf_puts(buf, i ? "," : "");
        face_json_string(buf, report->notes[i]);
    }
    buf_puts(buf, "]}");
}
