/* Published figures of a benchmark: the searches of its tasks, as the archive has them, together.
 */
#include "app/bench.h"
#include "app/figures.h"
#include "app/screen.h"
#include "app/table.h"

#include "base/json.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

/* ---- reading ---- */

/* What its time would be in the verdict's terms: gains in a race are held against the time of the
 * race, those of other attempts against their verdicts. */
static double
baseline_us(const struct store_bench_task *row, const char *baseline)
{
    return bench_speedup(row, baseline) * row->time_us;
}

/* A task that could not be judged is one attempt that came to nothing. */
static struct bench_search
nothing_of(struct arena *arena, const struct store_bench_task *row, const char *baseline)
{
    struct metrics_attempt *attempt = arena_array(arena, 1, sizeof *attempt);
    struct metrics_task attempts = {attempt, bench_is_done(row) ? 1 : 0};
    return (struct bench_search){.attempts = attempts,
                                 .baseline = baseline,
                                 .baseline_us = NAN,
                                 .light_us = NAN,
                                 .best_us = NAN,
                                 .code_bleu = NAN,
                                 .limit = ""};
}

static struct bench_search
read_search(struct store *store, struct arena *arena, const struct store_bench_task *row,
            const char *baseline)
{
    struct figures_wish wish = {.baseline = baseline, .baseline_us = baseline_us(row, baseline)};
    struct diags *unheard = diags_create(arena, 4); /* a run that was taken out has no figures */
    struct archive_run run;
    struct bench_search search;
    if (*row->run == '\0' ||
        archive_read_run(store, arena, row->run, STORE_BRIEF, &run, unheard) != STATUS_OK ||
        figures_read(store, arena, &run, &wish, &search, unheard) != STATUS_OK ||
        search.attempts.count == 0)
        return nothing_of(arena, row, baseline);
    return search;
}

void
bench_read_searches(struct store *store, struct arena *arena, struct bench_view *view)
{
    const char *baseline =
        arena_strndup(arena, view->bench.against, strcspn(view->bench.against, ","));
    view->searches = arena_array(arena, view->count + 1, sizeof *view->searches);
    for (size_t i = 0; i < view->count; i++)
        view->searches[i] = read_search(store, arena, &view->rows[i], baseline);
}

/* ---- figures ---- */

double
bench_allowed(struct arena *arena, const struct store_bench *bench)
{
    const char *text = bench_option(arena, bench, "evals");
    int64_t number;
    return text != NULL && text_integer(text, &number) ? (double)number : NAN;
}

static double
threads_of(const struct bench_view *view)
{
    return archive_machine(&(struct store_run){.machine = view->bench.machine}).threads;
}

void
bench_figures_of(struct arena *arena, const struct bench_view *view, const char *recipe,
                 struct bench_figures *figures)
{
    const struct bench_search **searches = arena_array(arena, view->count + 1, sizeof *searches);
    size_t count = 0;
    for (size_t i = 0; i < view->count; i++)
        if (bench_is_done(&view->rows[i]) && strcmp(view->rows[i].recipe, recipe) == 0)
            searches[count++] = &view->searches[i];
    bench_figure(arena, searches, count,
                 &(struct bench_terms){.baseline = view->searches[0].baseline,
                                       .evaluations = bench_allowed(arena, &view->bench),
                                       .threads = threads_of(view)},
                 figures);
}

/* The search of the same task under another recipe; NULL: there is none. */
static const struct bench_search *
under(const struct bench_view *view, const struct store_bench_task *row, const char *recipe)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct store_bench_task *other = &view->rows[i];
        if (strcmp(other->recipe, recipe) == 0 && other->number == row->number &&
            strcmp(other->suite, row->suite) == 0 && strcmp(other->name, row->name) == 0)
            return &view->searches[i];
    }
    return NULL;
}

static double
equal_cost(struct arena *arena, const struct bench_view *view, const char *recipe, const char *over,
           enum bench_cost cost, size_t *tasks)
{
    const struct bench_search **a = arena_array(arena, view->count + 1, sizeof *a);
    const struct bench_search **b = arena_array(arena, view->count + 1, sizeof *b);
    size_t count = 0;
    for (size_t i = 0; i < view->count; i++) {
        const struct bench_search *other = under(view, &view->rows[i], over);
        if (strcmp(view->rows[i].recipe, recipe) != 0 || other == NULL)
            continue;
        a[count] = &view->searches[i];
        b[count++] = other;
    }
    return bench_equal_cost(arena, a, b, count, cost, tasks);
}

double
bench_compare_cost(struct arena *arena, const struct bench_view *before,
                   const struct bench_view *after, const struct bench_comparison *comparison,
                   enum bench_cost cost, size_t *tasks)
{
    const struct bench_search **a = arena_array(arena, comparison->count + 1, sizeof *a);
    const struct bench_search **b = arena_array(arena, comparison->count + 1, sizeof *b);
    for (size_t i = 0; i < comparison->count; i++) {
        a[i] = &after->searches[comparison->changes[i].after - after->rows];
        b[i] = &before->searches[comparison->changes[i].before - before->rows];
    }
    return bench_equal_cost(arena, a, b, comparison->count, cost, tasks);
}

/* The others are held against it. */
static const char *
first_recipe(struct arena *arena, const struct bench_view *view)
{
    return arena_strndup(arena, view->bench.recipes, strcspn(view->bench.recipes, ","));
}

/* ---- on a screen ---- */

static void
put_equal_costs(struct buf *out, const struct bench_view *view)
{
    struct arena *arena = out->arena;
    struct table table = table_create(arena);
    const char *over = first_recipe(arena, view);
    char *next = arena_strdup(arena, view->bench.recipes);
    table_column(&table, arena_printf(arena, "over %s at equal", over), true);
    for (unsigned cost = 0; cost < BENCH_COST_COUNT; cost++)
        table_column(&table, bench_cost_name[cost], false);
    for (const char *recipe; (recipe = strsep(&next, ",")) != NULL;) {
        const char *cells[1 + BENCH_COST_COUNT] = {recipe};
        size_t tasks;
        for (unsigned cost = 0; cost < BENCH_COST_COUNT; cost++) {
            double ratio = equal_cost(arena, view, recipe, over, (enum bench_cost)cost, &tasks);
            cells[1 + cost] = tasks > 0 ? bench_ratio_text(arena, ratio) : "-";
        }
        if (strcmp(recipe, over) != 0)
            table_row(&table, cells);
    }
    buf_putc(out, '\n');
    table_print(out, &table);
}

void
bench_show_figures(struct buf *out, const struct bench_view *view)
{
    struct arena *arena = out->arena;
    bool several = strchr(view->bench.recipes, ',') != NULL;
    char *next = arena_strdup(arena, view->bench.recipes);
    for (const char *recipe; (recipe = strsep(&next, ",")) != NULL;) {
        struct bench_figures figures;
        bench_figures_of(arena, view, recipe, &figures);
        figures_show(out, &figures, several ? arena_printf(arena, "%s: ", recipe) : "");
    }
    if (several)
        put_equal_costs(out, view);
}

/* ---- for programs ---- */

/* Over the first recipe, where both have spent. */
void
bench_put_equal_costs(struct buf *out, const struct bench_view *view, const char *recipe)
{
    struct arena *arena = out->arena;
    const char *over = first_recipe(arena, view), *before = "";
    buf_puts(out, ",\"equal_cost\":[");
    for (unsigned cost = 0; cost < BENCH_COST_COUNT && strcmp(recipe, over) != 0; cost++) {
        size_t tasks;
        double ratio = equal_cost(arena, view, recipe, over, (enum bench_cost)cost, &tasks);
        if (tasks == 0)
            continue;
        buf_printf(out, "%s{\"over\":", before);
        json_put_string(out, over);
        json_field_string(out, "cost", bench_cost_name[cost]);
        json_field_number(out, "speedup", ratio);
        json_field_number(out, "tasks", (double)tasks);
        buf_putc(out, '}');
        before = ",";
    }
    buf_putc(out, ']');
}
