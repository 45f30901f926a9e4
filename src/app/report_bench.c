/* The data of a benchmark's page: what `hone bench --json` says, when, and how to repeat it. */
#include "app/report.h"

#include <string.h>

#include "base/json.h"

/* With the recipes, the limits and whatever else the searches were given. */
static const char *
command_of(struct arena *arena, const struct store_bench *bench)
{
    struct buf command = buf_in(arena);
    char *next = arena_strdup(arena, bench->recipes);
    buf_printf(&command, "hone bench %s --against %s", bench->title, bench->against);
    if (strcmp(bench->recipes, "builtin") != 0)
        for (const char *recipe; (recipe = strsep(&next, ",")) != NULL;)
            buf_printf(&command, " --recipe %s", recipe);
    for (const char *const *name = bench_search_options; *name != NULL; name++) {
        const char *value = bench_option(arena, bench, *name);
        if (value != NULL)
            buf_printf(&command, " --%s %s", *name, value);
    }
    return command.data;
}

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
    report_put_command(json, "a benchmark like it", command_of(arena, &view->bench));
    report_put_command(json, "how the search of one task went", "hone show RUN");
    buf_puts(json, "]}");
}
