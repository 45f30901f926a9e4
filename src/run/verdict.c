/* A verdict as JSON; doc/json.md names the fields. The archive keeps it as `hone judge` shows it.
 */
#include "run/run.h"

#include "base/json.h"

/* Left out if there is none. */
static void
put_text(struct buf *buf, const char *name, const char *text)
{
    if (text != NULL)
        json_field_string(buf, name, text);
}

static void
put_time(struct buf *buf, const struct judge_time *time)
{
    buf_printf(buf, ",\"time_us\":{\"samples\":%zu,\"calls\":%zu", time->samples, time->calls);
    json_field_number(buf, "median", time->median);
    json_field_number(buf, "min", time->min);
    json_field_number(buf, "low", time->low);
    json_field_number(buf, "high", time->high);
    buf_putc(buf, '}');
}

static void
put_pairs(struct buf *buf, const struct judge_case *row)
{
    buf_puts(buf, ",\"speedups\":{");
    for (size_t i = 0; i < row->pair_count; i++) {
        buf_puts(buf, i ? "," : "");
        json_put_string(buf, row->pairs[i].name);
        buf_putc(buf, ':');
        json_put_number(buf, row->pairs[i].speedup);
    }
    buf_puts(buf, "},\"baselines\":[");
    for (size_t i = 0; i < row->pair_count; i++) {
        const struct judge_pair *pair = &row->pairs[i];
        buf_puts(buf, i ? ",{\"name\":" : "{\"name\":");
        json_put_string(buf, pair->name);
        put_text(buf, "flags", pair->flags);
        put_time(buf, &pair->time);
        json_field_number(buf, "speedup", pair->speedup);
        json_field_number(buf, "low", pair->low);
        json_field_number(buf, "high", pair->high);
        json_field_bool(buf, "same", pair->same);
        buf_putc(buf, '}');
    }
    buf_putc(buf, ']');
}

static void
put_case(struct buf *buf, const struct judge_case *row)
{
    buf_puts(buf, "{\"name\":");
    json_put_string(buf, row->program->case_name);
    json_field_number(buf, "error_over_gate", row->worst);
    buf_printf(buf, ",\"elements\":%lld,\"unjudged\":%lld", (long long)row->elements,
               (long long)row->unjudged);
    json_field_number(buf, "light_us", row->light.us);
    put_text(buf, "limit", row->light.limit);
    if (row->timed) {
        put_time(buf, &row->time);
        json_field_number(buf, "light", row->share);
        buf_printf(buf, ",\"timed_calls_checked\":%zu", row->timed_calls_checked);
        put_pairs(buf, row);
    }
    buf_putc(buf, '}');
}

static void
put_wrong(struct buf *buf, const struct judge_wrong *wrong)
{
    buf_puts(buf, ",\"wrong\":{\"tensor\":");
    json_put_string(buf, wrong->tensor);
    put_text(buf, "case", wrong->case_name);
    put_text(buf, "element", wrong->element);
    json_field_number(buf, "expected", wrong->expected);
    json_field_number(buf, "got", wrong->got);
    json_field_number(buf, "allowed", wrong->allowed);
    json_field_bool(buf, "unwritten", wrong->unwritten);
    buf_printf(buf, ",\"count\":%lld,\"of\":%lld", (long long)wrong->wrong,
               (long long)wrong->elements);
    put_text(buf, "where", wrong->where);
    put_text(buf, "kinds", wrong->kinds);
    put_text(buf, "looks_like", wrong->guess);
    buf_putc(buf, '}');
}

void
run_put_verdict(struct buf *buf, const char *task, const char *target, const char *file,
                const struct judge_report *report)
{
    buf_puts(buf, "{\"status\":");
    json_put_string(buf, judge_status_name[report->status]);
    put_text(buf, "reason", report->reason);
    put_text(buf, "file", file);
    put_text(buf, "task", task);
    put_text(buf, "target", target);
    buf_printf(buf, ",\"seed\":\"%08llx\",\"threads\":%u", (unsigned long long)report->seed,
               report->threads);
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
    json_field_bool(buf, "deterministic", report->deterministic);
    json_field_bool(buf, "same_bits", report->same_bits);
    json_field_bool(buf, "from_cache", report->from_cache);
    json_field_number(buf, "compile_seconds", report->compile_seconds);
    json_field_number(buf, "seconds", report->seconds);
    buf_puts(buf, ",\"notes\":[");
    for (size_t i = 0; i < report->note_count; i++) {
        buf_puts(buf, i ? "," : "");
        json_put_string(buf, report->notes[i]);
    }
    buf_puts(buf, "]}");
}
