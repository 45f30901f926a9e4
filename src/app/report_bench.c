/* The data of a benchmark's page: what `hone bench --json` says, when, and how to repeat it. */
#include "app/report.h"

#include "base/json.h"

void
report_bench_json(struct buf *json, const struct bench_view *view, const char *file, double now)
{
    struct arena *arena = json->arena;
    const char *name = view->bench.name;
    report_made_json(json, now);
    json_field_string(json, "started", report_date(arena, view->bench.started));
    buf_puts(json, ",\"bench\":");
    bench_put_json(json, view);
    buf_puts(json, ",\"commands\":[");
    report_put_command(json, "this page", arena_printf(arena, "hone report %s -o %s", name, file));
    report_put_command(json, "its table", arena_printf(arena, "hone bench --resume %s", name));
    report_put_command(
        json, "a benchmark like it",
        arena_printf(arena, "hone bench %s --against %s", view->bench.title, view->bench.against));
    report_put_command(json, "how the search of one task went", "hone show RUN");
    buf_puts(json, "]}");
}
