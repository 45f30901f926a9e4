/* `hone bench` for programs: JSON and CSV. */
#include "app/bench.h"
#include "app/figures.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/num.h"
#include "bench/rivals.h"
#include "bench/suite.h"

/* ---- JSON ---- */

/* The beginning of an object in a list. */
static void
put_name(struct buf *out, const struct store_baseline *baseline, const char **before)
{
    buf_printf(out, "%s{\"name\":", *before);
    json_put_string(out, baseline->name);
    *before = ",";
}

static void
put_baselines(struct buf *out, const struct store_bench_task *row)
{
    const char *before = "";
    buf_puts(out, ",\"baselines\":[");
    for (size_t i = 0; i < row->baseline_count; i++) {
        const struct store_baseline *baseline = &row->baselines[i];
        if (!bench_took_part(baseline))
            continue;
        put_name(out, baseline, &before);
        json_field_string(out, "build", baseline->build);
        json_field_number(out, "time_us", baseline->time_us);
        json_field_number(out, "low_us", baseline->low_us);
        json_field_number(out, "high_us", baseline->high_us);
        json_field_number(out, "speedup", baseline->speedup);
        json_field_number(out, "speedup_low", baseline->speedup_low);
        json_field_number(out, "speedup_high", baseline->speedup_high);
        buf_putc(out, '}');
    }
    before = "";
    buf_puts(out, "],\"speedups\":{");
    for (size_t i = 0; i < row->baseline_count; i++) {
        if (!bench_took_part(&row->baselines[i]))
            continue;
        buf_puts(out, before);
        json_put_string(out, row->baselines[i].name);
        buf_putc(out, ':');
        json_put_number(out, row->baselines[i].speedup);
        before = ",";
    }
    buf_putc(out, '}');
}

/* Builds that did not work. */
static void
put_absent(struct buf *out, const struct store_bench_task *row)
{
    const char *before = "";
    buf_puts(out, ",\"absent\":[");
    for (size_t i = 0; i < row->baseline_count; i++) {
        if (bench_took_part(&row->baselines[i]))
            continue;
        put_name(out, &row->baselines[i], &before);
        json_field_string(out, "reason", row->baselines[i].build);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

/* Figures of a search: fields of a task in JSON, columns in CSV. */
enum { FIGURES = 6 };
static const char *const figure_name[FIGURES] = {"attempts",  "built", "right",
                                                 "sol_score", "area",  "code_bleu"};

static void
take_figures(const struct bench_search *search, double allowed, double figures[FIGURES])
{
    const struct metrics_task *task = &search->attempts;
    size_t built = 0, right = 0;
    for (size_t i = 0; i < task->count; i++) {
        built += task->attempts[i].built;
        right += task->attempts[i].correct;
    }
    memcpy(figures,
           (double[FIGURES]){(double)task->count, (double)built, (double)right,
                             bench_light_score(search), bench_area(search, allowed),
                             search->code_bleu},
           FIGURES * sizeof *figures);
}

static void
put_search(struct buf *out, const struct bench_search *search, double allowed)
{
    double figures[FIGURES];
    take_figures(search, allowed, figures);
    json_field_string(out, "limit", search->limit);
    for (size_t i = 0; i < FIGURES; i++)
        json_field_number(out, figure_name[i], figures[i]);
}

static void
put_task(struct buf *out, const struct store_bench_task *row, const struct bench_search *search,
         double allowed)
{
    buf_puts(out, "{\"suite\":");
    json_put_string(out, row->suite);
    json_field_number(out, "number", (double)row->number);
    json_field_string(out, "name", row->name);
    json_field_string(out, "marks", row->marks);
    json_field_string(out, "label", suite_label(row->suite));
    json_field_string(out, "recipe", row->recipe);
    json_field_string(out, "status", bench_is_done(row) ? row->status : NULL);
    json_field_string(out, "reason", row->reason);
    json_field_string(out, "run", *row->run ? row->run : NULL);
    json_field_number(out, "time_us", row->time_us);
    json_field_number(out, "low_us", row->low_us);
    json_field_number(out, "high_us", row->high_us);
    json_field_number(out, "light", row->light);
    json_field_number(out, "light_us", row->light_us);
    json_field_string(out, "limited_by", row->limited);
    put_baselines(out, row);
    put_absent(out, row);
    json_field_number(out, "evaluations", (double)row->evaluations);
    json_field_number(out, "seconds", row->seconds);
    put_search(out, search, allowed);
    buf_putc(out, '}');
}

/* The first of them is the worst. */
static void
put_slowest(struct buf *out, const struct bench_view *view, const struct bench_summary *summary)
{
    buf_puts(out, ",\"slowest\":[");
    for (size_t i = 0; i < summary->slowest_count; i++) {
        const struct store_bench_task *row = summary->slowest[i];
        buf_puts(out, i ? ",{\"suite\":" : "{\"suite\":");
        json_put_string(out, row->suite);
        json_field_number(out, "number", (double)row->number);
        json_field_string(out, "name", row->name);
        json_field_number(out, "speedup", bench_speedup(row, summary->lines[0].baseline));
        json_field_number(out, "light", row->light);
        json_field_string(out, "limit", view->searches[row - view->rows].limit);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

static void
put_line(struct buf *out, const struct bench_line *line)
{
    buf_puts(out, "{\"baseline\":");
    json_put_string(out, line->baseline);
    json_field_string(out, "part", bench_part_name[line->part]);
    json_field_bool(out, "claimed", bench_is_claimed(line->baseline));
    json_field_number(out, "geomean", line->geomean);
    for (unsigned i = 0; i < BENCH_SPEED_COUNT; i++)
        json_field_number(out, bench_speed_name[i], line->fast[i]);
    json_field_number(out, "tasks", (double)line->tasks);
    json_field_number(out, "builds", (double)line->builds);
    json_field_number(out, "fewer", (double)line->fewer);
    buf_putc(out, '}');
}

static void
put_metrics(struct buf *out, const struct bench_view *view, const char *recipe)
{
    struct bench_summary summary;
    struct bench_figures figures;
    bench_summarise(out->arena, view->rows, view->count, bench_shown(out->arena, view), recipe,
                    &summary);
    buf_puts(out, "{\"recipe\":");
    json_put_string(out, recipe);
    json_field_number(out, "tasks", (double)summary.tasks);
    json_field_number(out, "done", (double)summary.done);
    json_field_number(out, "correct", (double)summary.correct);
    json_field_number(out, "broken", (double)summary.broken);
    json_field_number(out, "light_median", summary.light_median);
    json_field_number(out, "light_lowest_tenth", summary.light_tenth);
    json_field_number(out, "evaluations", summary.evaluations);
    json_field_number(out, "seconds", summary.seconds);
    buf_puts(out, ",\"against\":[");
    for (size_t i = 0; i < summary.line_count; i++) {
        buf_puts(out, i ? "," : "");
        put_line(out, &summary.lines[i]);
    }
    buf_putc(out, ']');
    put_slowest(out, view, &summary);
    buf_puts(out, ",\"figures\":");
    bench_figures_of(out->arena, view, recipe, &figures);
    figures_json(out, &figures);
    bench_put_equal_costs(out, view, recipe);
    buf_putc(out, '}');
}

void
bench_put_json(struct buf *out, const struct bench_view *view)
{
    char *next = arena_strdup(out->arena, view->bench.recipes);
    const char *before = "";
    double allowed = bench_allowed(out->arena, &view->bench);
    buf_puts(out, "{\"run\":");
    json_put_string(out, view->bench.name);
    json_field_string(out, "title", view->bench.title);
    json_field_string(out, "label", bench_label(view));
    json_field_string(out, "against", view->bench.against);
    json_field_string(out, "state", store_state_name[view->bench.state]);
    buf_puts(out, ",\"tasks\":[");
    for (size_t i = 0; i < view->count; i++) {
        buf_puts(out, i ? "," : "");
        put_task(out, &view->rows[i], &view->searches[i], allowed);
    }
    buf_puts(out, "],\"metrics\":[");
    for (char *recipe; (recipe = strsep(&next, ",")) != NULL; before = ",") {
        buf_puts(out, before);
        put_metrics(out, view, recipe);
    }
    buf_printf(out, "],\"machine\":%s}\n", *view->bench.machine ? view->bench.machine : "null");
}

/* ---- CSV ---- */

/* Quoted where it has to be. */
static void
put_cell(struct buf *out, const char *text)
{
    if (text[strcspn(text, ",\"\n\r")] == '\0') {
        buf_puts(out, text);
        return;
    }
    buf_putc(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            buf_putc(out, '"');
        buf_putc(out, *text);
    }
    buf_putc(out, '"');
}

/* Behind a comma; what is not known is empty. */
static void
put_figure(struct buf *out, double value)
{
    buf_putc(out, ',');
    if (isfinite(value))
        json_put_number(out, value);
}

/* The names of all baselines that any task has. */
static size_t
baseline_names(struct arena *arena, const struct bench_view *view, const char ***list)
{
    size_t most = 0, count = 0;
    for (size_t i = 0; i < view->count; i++)
        most += view->rows[i].baseline_count;
    const char **names = arena_array(arena, most + 1, sizeof *names);
    for (size_t i = 0; i < view->count; i++)
        for (size_t k = 0; k < view->rows[i].baseline_count; k++) {
            size_t at = 0;
            while (at < count && strcmp(names[at], view->rows[i].baselines[k].name) != 0)
                at++;
            if (at == count)
                names[count++] = view->rows[i].baselines[k].name;
        }
    *list = names;
    return count;
}

static void
put_row_figures(struct buf *out, const struct bench_search *search, double allowed)
{
    double figures[FIGURES];
    take_figures(search, allowed, figures);
    buf_putc(out, ',');
    put_cell(out, search->limit);
    for (size_t i = 0; i < FIGURES; i++)
        put_figure(out, figures[i]);
}

static void
put_row(struct buf *out, const struct bench_view *view, size_t number, const char *const *names,
        size_t count)
{
    const struct store_bench_task *row = &view->rows[number];
    const char *label = suite_label(row->suite);
    const char *const texts[] = {row->name,   row->marks,  label ? label : "", row->recipe,
                                 row->status, row->reason, row->limited,       row->run};
    put_cell(out, row->suite);
    buf_printf(out, ",%lld", (long long)row->number);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        buf_putc(out, ',');
        put_cell(out, texts[i]);
    }
    put_figure(out, row->time_us);
    put_figure(out, row->low_us);
    put_figure(out, row->high_us);
    put_figure(out, row->light);
    put_figure(out, row->light_us);
    put_figure(out, (double)row->evaluations);
    put_figure(out, row->seconds);
    put_row_figures(out, &view->searches[number], bench_allowed(out->arena, &view->bench));
    for (size_t i = 0; i < count; i++) {
        const struct store_baseline *baseline = bench_baseline(row, names[i]);
        put_figure(out, baseline ? baseline->time_us : NAN);
        put_figure(out, baseline ? baseline->speedup : NAN);
        put_figure(out, baseline ? baseline->speedup_low : NAN);
        put_figure(out, baseline ? baseline->speedup_high : NAN);
    }
    buf_putc(out, '\n');
}

void
bench_put_csv(struct buf *out, const struct bench_view *view)
{
    const char **names;
    size_t count = baseline_names(out->arena, view, &names);
    buf_puts(out,
             "suite,number,name,marks,label,recipe,status,reason,limited_by,run,time_us,low_us,"
             "high_us,light,light_us,evaluations,seconds,limit");
    for (size_t i = 0; i < FIGURES; i++)
        buf_printf(out, ",%s", figure_name[i]);
    for (size_t i = 0; i < count; i++)
        buf_printf(out, ",%s_us,%s_speedup,%s_speedup_low,%s_speedup_high", names[i], names[i],
                   names[i], names[i]);
    buf_putc(out, '\n');
    for (size_t i = 0; i < view->count; i++)
        put_row(out, view, i, names, count);
}

/* ---- a comparison ---- */

void
bench_put_comparison(struct buf *out, const struct bench_view *before,
                     const struct bench_view *after, const struct bench_comparison *comparison,
                     double gate)
{
    buf_puts(out, "{\"before\":");
    json_put_string(out, before->bench.name);
    json_field_string(out, "after", after->bench.name);
    json_field_number(out, "margin", BENCH_MARGIN);
    for (unsigned i = 0; i < BENCH_CHANGE_COUNT; i++)
        json_field_number(out, bench_change_name[i], (double)comparison->counts[i]);
    json_field_number(out, "only_before", (double)comparison->only_before);
    json_field_number(out, "only_after", (double)comparison->only_after);
    json_field_bool(out, "regressed", !isinf(gate) && bench_regressed(comparison, gate / 100));
    buf_puts(out, ",\"tasks\":[");
    for (size_t i = 0; i < comparison->count; i++) {
        const struct bench_change *change = &comparison->changes[i];
        buf_puts(out, i ? ",{\"suite\":" : "{\"suite\":");
        json_put_string(out, change->after->suite);
        json_field_number(out, "number", (double)change->after->number);
        json_field_string(out, "name", change->after->name);
        json_field_string(out, "recipe", change->after->recipe);
        json_field_string(out, "change", bench_change_name[change->kind]);
        json_field_number(out, "before_us", change->before->time_us);
        json_field_number(out, "after_us", change->after->time_us);
        json_field_number(out, "ratio", change->ratio);
        json_field_number(out, "low", change->low);
        json_field_number(out, "high", change->high);
        buf_putc(out, '}');
    }
    buf_puts(out, "],\"equal_cost\":{");
    for (unsigned cost = 0; cost < BENCH_COST_COUNT; cost++) {
        size_t tasks;
        buf_puts(out, cost ? "," : "");
        json_put_string(out, bench_cost_name[cost]);
        buf_putc(out, ':');
        json_put_number(out, bench_compare_cost(out->arena, before, after, comparison,
                                                (enum bench_cost)cost, &tasks));
    }
    buf_puts(out, "}}\n");
}
