/* `hone show`: the runs and benchmarks of the archive; --find: candidates by words. */
#include "app/screen.h"
#include "app/show.h"
#include "app/table.h"

#include "base/json.h"
#include "base/num.h"

#include <math.h>
#include <string.h>

static const char *
or_dash(const char *text)
{
    return *text ? text : "-";
}

/* "-" where it is not known. */
static const char *
light_cell(struct arena *arena, double light)
{
    return isnan(light) ? "-" : arena_printf(arena, "%.0f %%", 100 * light);
}

/* ---- runs ---- */

static void
add_run(struct table *table, const struct store_run *run, double now)
{
    struct arena *arena = table->arena;
    table_row(table,
              (const char *[]){run->name, run->task.name, run->recipe,
                               screen_cut(arena, or_dash(run->model), 28),
                               isnan(run->case_us) ? "-" : table_time(arena, run->case_us),
                               light_cell(arena, run->light),
                               isnan(run->gain) ? "-" : arena_printf(arena, "%.1fx", run->gain),
                               screen_number(arena, run->evaluations),
                               isnan(run->cost) ? "-" : arena_printf(arena, "%.2f", run->cost),
                               archive_state(run), screen_age(arena, now - run->started)});
}

static void
put_benches(struct buf *buf, const struct show_list *list)
{
    struct arena *arena = buf->arena;
    struct table table = table_create(arena);
    static const char *const columns[] = {"bench", "tasks of", "recipe", "against"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(&table, columns[i], true);
    table_column(&table, "done", false);
    table_column(&table, "state", true);
    table_column(&table, "age", false);
    for (size_t i = 0; i < list->bench_count; i++) {
        const struct store_bench *bench = &list->benches[i];
        table_row(&table,
                  (const char *[]){bench->name, screen_cut(arena, bench->title, 32),
                                   screen_cut(arena, bench->recipes, 20), bench->against,
                                   arena_printf(arena, "%lld/%lld", (long long)bench->finished,
                                                (long long)bench->tasks),
                                   store_state_name[bench->state],
                                   screen_age(arena, list->now - bench->started)});
    }
    table_print(buf, &table);
}

/* Something to type that makes sense for what is there. */
static void
put_next(struct buf *buf, const struct show_list *list)
{
    const struct store_run *stopped = NULL;
    for (size_t i = list->count; i-- > 0;)
        if (list->runs[i].state == STORE_STOPPED)
            stopped = &list->runs[i];
    buf_printf(buf, "hone show %s", list->runs[0].name);
    if (list->bench_count > 0)
        buf_printf(buf, " | hone show %s", list->benches[0].name);
    if (stopped != NULL && cli_find_verb("resume") != NULL)
        buf_printf(buf, " | hone resume %s", stopped->name);
    buf_puts(buf, list->task ? "" : " | --task X");
    buf_puts(buf, list->count < (size_t)list->totals.runs && !list->task ? " | --all\n" : "\n");
}

void
show_runs(struct buf *buf, const struct show_list *list)
{
    static const struct {
        const char *heading;
        bool left;
    } columns[] = {{"run", true},   {"task", true},   {"recipe", true}, {"model", true},
                   {"best", false}, {"light", false}, {"gain", false},  {"evals", false},
                   {"cost", false}, {"state", true},  {"age", false}};
    struct table table = table_create(buf->arena);
    struct buf size = buf_in(buf->arena);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(&table, columns[i].heading, columns[i].left);
    for (size_t i = 0; i < list->count; i++)
        add_run(&table, &list->runs[i], list->now);
    if (list->count > 0)
        table_print(buf, &table);
    if (list->bench_count > 0) {
        buf_puts(buf, list->count > 0 ? "\n" : "");
        put_benches(buf, list);
        buf_putc(buf, '\n');
    }
    num_put_count(&size, (double)list->totals.bytes, "B");
    buf_printf(buf, "%zu of %s runs, %s candidates, %s.   ", list->count,
               screen_number(buf->arena, list->totals.runs),
               screen_number(buf->arena, list->totals.candidates), size.data);
    if (list->count > 0)
        put_next(buf, list);
    else
        buf_puts(buf, list->task ? "hone show lists all tasks\n"
                                 : "hone optimize FILE.op makes the first\n");
}

/* What a list of runs and a run alone both have. */
static void
put_run_fields(struct buf *buf, const struct store_run *run)
{
    buf_puts(buf, "{\"run\":");
    json_put_string(buf, run->name);
    json_field_string(buf, "task", run->task.name);
    json_field_string(buf, "recipe", run->recipe);
    json_field_string(buf, "model", run->model[0] ? run->model : NULL);
    json_field_number(buf, "best_us", run->case_us);
    json_field_number(buf, "light", run->light);
    json_field_number(buf, "gain", run->gain);
    json_field_number(buf, "evaluations", (double)run->evaluations);
    json_field_number(buf, "calls", (double)run->calls);
    json_field_number(buf, "cost_usd", run->cost);
    json_field_string(buf, "state", store_state_name[run->state]);
    json_field_string(buf, "stopped_by", run->stopped_by[0] ? run->stopped_by : NULL);
    json_field_number(buf, "started", run->started);
    json_field_number(buf, "ended", run->ended);
    buf_putc(buf, '}');
}

static void
put_bench_fields(struct buf *buf, const struct store_bench *bench)
{
    buf_puts(buf, "{\"bench\":");
    json_put_string(buf, bench->name);
    json_field_string(buf, "title", bench->title);
    json_field_string(buf, "against", bench->against);
    json_field_string(buf, "recipes", bench->recipes);
    json_field_number(buf, "tasks", (double)bench->tasks);
    json_field_number(buf, "done", (double)bench->finished);
    json_field_string(buf, "state", store_state_name[bench->state]);
    json_field_number(buf, "started", bench->started);
    json_field_number(buf, "ended", bench->ended);
    buf_putc(buf, '}');
}

void
show_runs_json(struct buf *buf, const struct show_list *list)
{
    buf_puts(buf, "{\"runs\":[");
    for (size_t i = 0; i < list->count; i++) {
        buf_puts(buf, i ? "," : "");
        put_run_fields(buf, &list->runs[i]);
    }
    buf_puts(buf, "],\"benchmarks\":[");
    for (size_t i = 0; i < list->bench_count; i++) {
        buf_puts(buf, i ? "," : "");
        put_bench_fields(buf, &list->benches[i]);
    }
    buf_printf(buf, "],\"of\":%lld,\"candidates\":%lld,\"bytes\":%lld}\n",
               (long long)list->totals.runs, (long long)list->totals.candidates,
               (long long)list->totals.bytes);
}

/* ---- candidates by words ---- */

void
show_hits(struct buf *buf, const struct store_hit *hits, size_t count)
{
    struct table table = table_create(buf->arena);
    table_column(&table, "candidate", true);
    table_column(&table, "task", true);
    table_column(&table, "time", false);
    table_column(&table, "light", false);
    table_column(&table, "why or schedule", true);
    for (size_t i = 0; i < count; i++) {
        const struct store_hit *hit = &hits[i];
        bool correct = strcmp(hit->status, "correct") == 0 && !isnan(hit->time_us);
        const char *text = hit->why[0] ? hit->why : archive_main_line(buf->arena, hit->schedule);
        table_row(&table, (const char *[]){
                              archive_name(buf->arena, hit->run, hit->number), hit->task_name,
                              correct ? table_time(buf->arena, hit->time_us) : or_dash(hit->status),
                              light_cell(buf->arena, correct ? hit->light : NAN),
                              screen_cut(buf->arena, text, 56)});
    }
    table_print(buf, &table);
    buf_printf(buf, "hone show %s --code\n", archive_name(buf->arena, hits[0].run, hits[0].number));
}

void
show_hits_json(struct buf *buf, const struct store_hit *hits, size_t count)
{
    buf_puts(buf, "{\"found\":[");
    for (size_t i = 0; i < count; i++) {
        buf_puts(buf, i ? ",{\"candidate\":" : "{\"candidate\":");
        json_put_string(buf, archive_name(buf->arena, hits[i].run, hits[i].number));
        json_field_string(buf, "task", hits[i].task_name);
        json_field_string(buf, "kind", store_kind_name[hits[i].kind]);
        json_field_string(buf, "status", hits[i].status[0] ? hits[i].status : NULL);
        json_field_number(buf, "time_us", hits[i].time_us);
        json_field_number(buf, "light", hits[i].light);
        json_field_string(buf, "why", hits[i].why);
        json_field_string(buf, "schedule", hits[i].schedule[0] ? hits[i].schedule : NULL);
        buf_putc(buf, '}');
    }
    buf_puts(buf, "]}\n");
}
