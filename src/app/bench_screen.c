/* The screens of `hone bench`: the live block, the summary, a comparison. */
#include "app/bench.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "app/screen.h"
#include "app/table.h"
#include "base/clock.h"
#include "base/num.h"
#include "base/text.h"
#include "bench/rivals.h"

#define SLOWEST_SHOWN 5 /* all that the summary has, to whoever asks for more */
#define MOST_FAILED 12  /* rows that are named with their reason */

/* ---- figures as people say them ---- */

static const char *
factor_text(struct arena *arena, double factor)
{
    if (isnan(factor))
        return "-";
    return arena_printf(arena, "%.*fx", factor < 2 ? 2 : factor < 10 ? 1 : 0, factor);
}

/* One that has no interval: less than what is called a change is none. */
const char *
bench_ratio_text(struct arena *arena, double ratio)
{
    bool same = ratio < 1 + BENCH_MARGIN && ratio * (1 + BENCH_MARGIN) > 1;
    return same ? "same" : factor_text(arena, ratio);
}

/* Within the noise it says so. */
static const char *
gain_text(struct arena *arena, const struct store_bench_task *row, const char *baseline)
{
    const struct store_baseline *found = bench_baseline(row, baseline);
    if (!bench_is_correct(row) || found == NULL)
        return bench_is_correct(row) ? "-" : row->status;
    bool same = found->speedup_low <= 1.0025 && found->speedup_high >= 0.9975;
    return same ? "same" : factor_text(arena, found->speedup);
}

static const char *
share_text(struct arena *arena, double share)
{
    if (isnan(share))
        return "-";
    double shown = share < 1 ? fmin(99, round(100 * share)) : 100 * share; /* 100 % is all */
    return arena_printf(arena, "%.0f %%", share > 0 ? fmax(1, shown) : shown);
}

static const char *
time_text(struct arena *arena, double us)
{
    return isnan(us) ? "-" : table_time(arena, us);
}

/* The baseline that counts. */
static const char *
first_baseline(struct arena *arena, const struct store_bench *bench)
{
    return arena_strndup(arena, bench->against, strcspn(bench->against, ","));
}

/* "6 matmul_large_k", "6 matmul_large_k (stark)" */
static const char *
task_text(struct arena *arena, const struct store_bench_task *row)
{
    bool plain = !strcmp(row->recipe, "builtin");
    return arena_printf(arena, "%lld %s%s%s%s", (long long)row->number, row->name,
                        plain ? "" : " (", plain ? "" : row->recipe, plain ? "" : ")");
}

/* ---- what is known of the whole ---- */

/* The builds "torch.X" that any task was measured against, "eager, compile, aot"; how many. */
static const char *
torch_builds(struct arena *arena, const struct bench_view *view, size_t *count)
{
    struct buf names = buf_in(arena);
    *count = 0;
    for (size_t i = 0; i < view->count; i++)
        for (size_t k = 0; k < view->rows[i].baseline_count; k++) {
            const struct store_baseline *baseline = &view->rows[i].baselines[k];
            bool listed = names.data != NULL && strstr(names.data, baseline->build) != NULL;
            if (!text_starts(baseline->name, "torch.") || !bench_is_claimed(baseline->name) ||
                !bench_took_part(baseline) || listed)
                continue;
            buf_printf(&names, "%s%s", *count ? ", " : "", baseline->build);
            ++*count;
        }
    return names.data ? names.data : "";
}

static const char *
machine_field(struct arena *arena, const struct store_bench *bench, const char *name)
{
    json_t *root = json_loads(bench->machine, 0, NULL);
    const json_t *value = json_object_get(root, name);
    const char *text = json_is_integer(value)
                           ? arena_printf(arena, "%lld", (long long)json_integer_value(value))
                       : json_is_string(value) ? arena_strdup(arena, json_string_value(value))
                                               : "?";
    json_decref(root);
    return text;
}

/* Peaks are in the description only where hone machine has measured them. */
static bool
is_measured(const struct store_bench *bench)
{
    json_t *root = json_loads(bench->machine, 0, NULL);
    bool measured = json_is_number(json_object_get(root, "gflops"));
    json_decref(root);
    return measured;
}

/* "60 s": what a search may take. */
static const char *
limit_text(struct arena *arena, const struct store_bench *bench)
{
    const char *text = bench_option(arena, bench, "time");
    double seconds;
    return text != NULL && text_seconds(text, &seconds) ? arena_printf(arena, "%g s", seconds)
                                                        : "?";
}

/* ---- live ---- */

static const char *
progress_line(struct arena *arena, const struct bench_live *live,
              const struct bench_summary *summary)
{
    const struct bench_line *all = &summary->lines[0];
    struct buf line = buf_in(arena);
    buf_printf(&line, "  %zu/%zu   %s", summary->done, summary->tasks,
               screen_clock(arena, live->seconds));
    if (live->here > 0)
        buf_printf(&line, ", about %s to go",
                   screen_clock(arena, live->seconds / (double)live->here *
                                           (double)(summary->tasks - summary->done)));
    if (summary->done > 0)
        buf_printf(&line, "    geomean %s   fast_1 %.0f/%zu", factor_text(arena, all->geomean),
                   isnan(all->geomean) ? 0 : all->fast[BENCH_FAST_1] * (double)all->tasks,
                   all->tasks);
    if (summary->slowest_count > 0)
        buf_printf(&line, "   worst %s %s", task_text(arena, summary->slowest[0]),
                   factor_text(arena, bench_speedup(summary->slowest[0], all->baseline)));
    return line.data;
}

/* With a clock of its own: a reference or a plain C of minutes looks like nothing at all. */
static const char *
now_line(struct arena *arena, const struct bench_now *now, const char *baseline)
{
    const struct bench_said *said = &now->said;
    struct buf line = buf_in(arena);
    buf_printf(&line, "  now  %s", task_text(arena, now->row));
    if (said->most > 0)
        buf_printf(&line, "   %u/%u evals", said->evaluations, said->most);
    if (!isinf(said->best_us))
        buf_printf(&line, "   best %s  %.0f %% light", table_time(arena, said->best_us),
                   100 * said->light_us / said->best_us);
    buf_printf(&line, "   %s", screen_clock(arena, clock_seconds() - now->began));
    if (said->racing)
        buf_printf(&line, ", timing %s", baseline);
    return line.data;
}

static const char *
last_line(struct arena *arena, const struct bench_live *live, const char *baseline)
{
    struct buf line = buf_in(arena);
    buf_puts(&line, "  last");
    for (size_t i = 0; i < live->last_count; i++)
        buf_printf(&line, "%s %s  %s", i ? "  " : "", task_text(arena, live->last[i]),
                   gain_text(arena, live->last[i], baseline));
    return screen_cut(arena, line.data, SCREEN_WIDTH);
}

/* In a pipe: one line for each task that ended, and sometimes what is under way. */
static const char *
plain_line(struct arena *arena, const struct bench_live *live, const struct bench_summary *summary,
           const char *baseline)
{
    if (!live->news || live->last_count == 0)
        return arena_printf(arena, "%s: %zu/%zu, run %s,%s", live->view->bench.title, summary->done,
                            summary->tasks, live->view->bench.name,
                            live->now_count ? now_line(arena, &live->now[0], baseline) : "");
    const struct store_bench_task *row = live->last[0];
    const char *what = arena_printf(arena, "%s: %zu/%zu %s", live->view->bench.title, summary->done,
                                    summary->tasks, task_text(arena, row));
    if (!bench_is_correct(row))
        return arena_printf(arena, "%s %s: %s", what, row->status,
                            screen_cut(arena, row->reason, SCREEN_WIDTH));
    return arena_printf(arena, "%s %s %s light %s %s", what, table_time(arena, row->time_us),
                        share_text(arena, row->light), gain_text(arena, row, baseline), baseline);
}

void
bench_show_live(struct log *log, struct arena *arena, const struct bench_live *live)
{
    const struct store_bench *bench = &live->view->bench;
    const char *baseline = first_baseline(arena, bench), *lines[9];
    struct bench_summary summary;
    size_t count = 0;
    bench_summarise(arena, live->view->rows, live->view->count, bench->against, NULL, &summary);
    lines[count++] =
        arena_printf(arena, "%s  %zu tasks on CPU  against %s   %s each   run %s", bench->title,
                     summary.tasks, bench->against, limit_text(arena, bench), bench->name);
    lines[count++] = progress_line(arena, live, &summary);
    for (size_t i = 0; i < live->now_count && count < 8; i++)
        lines[count++] = now_line(arena, &live->now[i], baseline);
    if (live->last_count > 0)
        lines[count++] = last_line(arena, live, baseline);
    log_progress(log, lines, count, plain_line(arena, live, &summary, baseline), live->news);
}

/* ---- summary: one recipe ---- */

enum { TITLE_WIDTH = 20 };

/* A longer title has a line of its own. */
static void
put_figures(struct buf *out, const char *title, const struct bench_line *line)
{
    struct arena *arena = out->arena;
    if (strlen(title) > TITLE_WIDTH) {
        buf_printf(out, "  %s\n", title);
        title = "";
    }
    buf_printf(out, "  %-*s %7s %9s %9s %10s %9s %9zu\n", TITLE_WIDTH, title,
               factor_text(arena, line->geomean), share_text(arena, line->fast[BENCH_FAST_0]),
               share_text(arena, line->fast[BENCH_FAST_1]),
               share_text(arena, line->fast[BENCH_FAST_1_5]),
               share_text(arena, line->fast[BENCH_FAST_2]), line->tasks);
}

/* "torch, best of 4", "torch, best of 4 builds (3 tasks with fewer)" */
static const char *
baseline_text(struct arena *arena, const struct bench_line *line)
{
    if (line->fewer > 0)
        return arena_printf(arena, "%s, best of %zu builds (%zu task%s with fewer)", line->baseline,
                            line->builds, line->fewer, line->fewer == 1 ? "" : "s");
    return line->builds > 1 ? arena_printf(arena, "%s, best of %zu", line->baseline, line->builds)
                            : line->baseline;
}

static const char *
line_title(struct arena *arena, const struct bench_line *line)
{
    if (!strcmp(line->baseline, BENCH_SHIPPED))
        return "torch, as shipped";
    return !strcmp(line->baseline, "naive") ? "naive, best build" : baseline_text(arena, line);
}

/* The headline is a part of its own only where something is left out. */
static void
put_line(struct buf *out, const struct bench_line *line)
{
    switch (line->part) {
    case BENCH_HEADLINE:
        if (line->left_out == 0)
            return;
        buf_printf(out, "    without %zu whose reference wastes work\n", line->left_out);
        put_figures(out, "", line);
        return;
    case BENCH_LONG:
        if (line->tasks > 0)
            put_figures(out, "  above 100 us", line);
        return;
    default:
        put_figures(out, line_title(out->arena, line), line);
    }
}

static void
put_lines(struct buf *out, const struct bench_view *view, const struct bench_summary *summary)
{
    buf_printf(out, "  %-*s %7s %9s %9s %10s %9s %9s\n", TITLE_WIDTH, "against", "geomean",
               "fast_0", "fast_1", "fast_1.5", "fast_2", "tasks");
    for (size_t i = 0; i < summary->line_count; i++)
        put_line(out, &summary->lines[i]);
    buf_printf(out, "  %-*s median %s, lowest tenth %s%s\n", TITLE_WIDTH, "light",
               share_text(out->arena, summary->light_median),
               share_text(out->arena, summary->light_tenth),
               is_measured(&view->bench) ? "" : "; estimated, not measured: see hone machine");
}

static const char *const counting[] = {"none", "one",   "two",   "three", "four", "five",
                                       "six",  "seven", "eight", "nine",  "ten"};

static void
put_slowest(struct buf *out, const struct bench_summary *summary, size_t most)
{
    struct arena *arena = out->arena;
    struct table table = table_create(arena);
    const char *baseline = summary->lines[0].baseline;
    size_t count = summary->slowest_count < most ? summary->slowest_count : most;
    if (count == 0)
        return;
    table_column(&table, arena_printf(arena, "slowest %s", counting[count]), true);
    table_column(&table, "time", false);
    table_column(&table, baseline, false);
    table_column(&table, "gain", false);
    table_column(&table, "light", false);
    table_column(&table, "limited by", true);
    for (size_t i = 0; i < count; i++) {
        const struct store_bench_task *row = summary->slowest[i];
        table_row(&table, (const char *[]){task_text(arena, row),
                                           time_text(arena, bench_time_beside(row, baseline)),
                                           time_text(arena, bench_baseline(row, baseline)->time_us),
                                           gain_text(arena, row, baseline),
                                           share_text(arena, row->light), row->limited});
    }
    buf_putc(out, '\n');
    table_print(out, &table);
}

static bool
is_slow(const struct bench_summary *summary, const struct store_bench_task *row)
{
    for (size_t i = 0; i < summary->slowest_count; i++)
        if (summary->slowest[i] == row)
            return true;
    return false;
}

/* Of the slowest and of all that are far from the speed of light. */
static void
put_limits(struct buf *out, const struct bench_view *view, const struct bench_summary *summary)
{
    enum { NAME_WIDTH = 24 };
    struct arena *arena = out->arena;
    size_t told = 0;
    for (size_t i = 0; i < view->count; i++) {
        const struct store_bench_task *row = &view->rows[i];
        bool wanted = row->light < BENCH_DIM || is_slow(summary, row);
        if (!bench_is_correct(row) || !wanted)
            continue;
        if (told++ == 0)
            buf_printf(out, "\n  what limits the slowest, and all below %.0f %% of light\n",
                       100 * BENCH_DIM);
        const char *name = task_text(arena, row);
        if (strlen(name) > NAME_WIDTH) { /* a line of its own */
            buf_printf(out, "  %s\n", name);
            name = "";
        }
        screen_paragraph(
            out, arena_printf(arena, "  %-*s %5s", NAME_WIDTH, name, share_text(arena, row->light)),
            NAME_WIDTH + 10, view->searches[i].limit);
    }
}

/* Builds that did not work: what a task is held against was chosen without them. */
static void
put_absent(struct buf *out, const struct bench_view *view)
{
    struct arena *arena = out->arena;
    size_t told = 0;
    for (size_t i = 0; i < view->count; i++)
        for (size_t k = 0; k < view->rows[i].baseline_count; k++) {
            const struct store_baseline *baseline = &view->rows[i].baselines[k];
            if (bench_took_part(baseline))
                continue;
            if (told++ == 0)
                buf_puts(out, "\n  builds that took no part\n");
            const char *line = arena_printf(arena, "  %s  %s: %s", task_text(arena, &view->rows[i]),
                                            baseline->name, baseline->build);
            buf_printf(out, "%s\n", screen_cut(arena, line, SCREEN_WIDTH));
        }
}

/* ---- summary: several recipes ---- */

/* How many kernels each was allowed is the same for all; how many it needed is shown. */
static void
put_recipes(struct buf *out, const struct bench_view *view, const struct bench_line *first)
{
    struct arena *arena = out->arena;
    struct table table = table_create(arena);
    char *next = arena_strdup(arena, view->bench.recipes);
    static const char *const columns[] = {"geomean", "fast_0",      "fast_1",  "fast_1.5", "fast_2",
                                          "light",   "evaluations", "correct", "tasks"};
    table_column(&table, "recipe", true);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(&table, columns[i], false);
    for (char *recipe; (recipe = strsep(&next, ",")) != NULL;) {
        struct bench_summary summary;
        bench_summarise(arena, view->rows, view->count, first->baseline, recipe, &summary);
        const struct bench_line *all = &summary.lines[0];
        table_row(&table, (const char *[]){recipe, factor_text(arena, all->geomean),
                                           share_text(arena, all->fast[BENCH_FAST_0]),
                                           share_text(arena, all->fast[BENCH_FAST_1]),
                                           share_text(arena, all->fast[BENCH_FAST_1_5]),
                                           share_text(arena, all->fast[BENCH_FAST_2]),
                                           share_text(arena, summary.light_median),
                                           arena_printf(arena, "%.0f", summary.evaluations),
                                           arena_printf(arena, "%zu", summary.correct),
                                           arena_printf(arena, "%zu", all->tasks)});
    }
    buf_printf(out, "  against %s, at most %s evaluations and %s a task each\n\n",
               baseline_text(arena, first), bench_option(arena, &view->bench, "evals"),
               limit_text(arena, &view->bench));
    table_print(out, &table);
}

/* ---- summary ---- */

static void
put_title(struct buf *out, const struct bench_view *view, const struct bench_summary *summary)
{
    struct arena *arena = out->arena;
    const struct store_bench *bench = &view->bench;
    size_t recipes = 1;
    for (const char *at = bench->recipes; *at; at++)
        recipes += *at == ',';
    size_t tasks = summary->tasks / recipes;
    buf_printf(out, "%s   %zu task%s, %s, %s threads, %s   %s, run %s\n", bench->title, tasks,
               tasks == 1 ? "" : "s", bench->recipes, machine_field(arena, bench, "threads"),
               machine_field(arena, bench, "cpu"), screen_clock(arena, summary->seconds),
               bench->name);
    if (bench_label(view) != NULL)
        buf_printf(out, "%s\n", bench_label(view));
    buf_putc(out, '\n');
}

/* Rows with something to say: those without a correct kernel, or notes of the others. How many of
 * them there are; `room` of them are shown. */
static size_t
put_reasons(struct buf *out, const struct bench_view *view, bool correct, size_t room)
{
    struct arena *arena = out->arena;
    size_t told = 0;
    for (size_t i = 0; i < view->count; i++) {
        const struct store_bench_task *row = &view->rows[i];
        bool silent = correct && *row->reason == '\0';
        if (!bench_is_done(row) || bench_is_correct(row) != correct || silent || told++ >= room)
            continue;
        buf_printf(out, "  %s  %s: %s\n", correct ? "note" : row->status, task_text(arena, row),
                   screen_cut(arena, row->reason, SCREEN_WIDTH));
    }
    return told;
}

static void
put_failed(struct buf *out, const struct bench_view *view, const struct bench_summary *summary)
{
    buf_printf(out, "\n  correct %zu, wrong %zu, broken %zu\n", summary->correct,
               summary->done - summary->correct - summary->broken, summary->broken);
    size_t failed = put_reasons(out, view, false, MOST_FAILED);
    size_t told =
        failed + put_reasons(out, view, true, failed < MOST_FAILED ? MOST_FAILED - failed : 0);
    if (told > MOST_FAILED)
        buf_printf(out, "  ... and %zu more: --csv has them all\n", told - MOST_FAILED);
}

static void
put_next(struct buf *out, const struct bench_view *view, const struct bench_summary *summary)
{
    const struct store_bench *bench = &view->bench;
    size_t builds;
    const char *torch = torch_builds(out->arena, view, &builds);
    if (builds > 0)
        buf_printf(out, "  torch: %s; memory warm, %s threads\n", torch,
                   machine_field(out->arena, bench, "threads"));
    if (summary->done < summary->tasks)
        buf_printf(out, "%zu of %zu done.   Go on:  hone bench --resume %s\n", summary->done,
                   summary->tasks, bench->name);
    else
        buf_printf(out, "hone report %s -o %s.html | hone bench --compare OLD %s | --csv\n",
                   bench->name, bench->name, bench->name);
}

void
bench_show_summary(struct buf *out, const struct bench_view *view)
{
    struct bench_summary summary;
    const char *against = bench_shown(out->arena, view);
    bench_summarise(out->arena, view->rows, view->count, against, NULL, &summary);
    put_title(out, view, &summary);
    if (strchr(view->bench.recipes, ',') != NULL)
        put_recipes(out, view, &summary.lines[0]);
    else
        put_lines(out, view, &summary);
    put_slowest(out, &summary, view->searches ? BENCH_SLOWEST : SLOWEST_SHOWN);
    if (view->searches != NULL) {
        put_limits(out, view, &summary);
        put_absent(out, view);
        bench_show_figures(out, view);
    }
    put_failed(out, view, &summary);
    put_next(out, view, &summary);
}

/* ---- a comparison ---- */

/* "5 % [3.9, 6.4]": how much more, or less, time it takes. */
static const char *
change_text(struct arena *arena, const struct bench_change *change)
{
    bool less = change->ratio < 1;
    double ratio = less ? 1 - change->ratio : change->ratio - 1;
    double low = less ? 1 - change->high : change->low - 1;
    double high = less ? 1 - change->low : change->high - 1;
    return arena_printf(arena, "%s %% [%.1f, %.1f]", screen_percent(arena, ratio), 100 * low,
                        100 * high);
}

static void
put_change(struct buf *out, const struct bench_change *change)
{
    struct arena *arena = out->arena;
    bool timed = bench_is_correct(change->before) && bench_is_correct(change->after);
    buf_printf(out, "  %-8s %s", bench_change_name[change->kind], task_text(arena, change->after));
    if (timed)
        buf_printf(out, "   %s -> %s   %s\n", table_time(arena, change->before->time_us),
                   table_time(arena, change->after->time_us), change_text(arena, change));
    else
        buf_printf(out, "   %s -> %s   %s\n", change->before->status, change->after->status,
                   screen_cut(arena, change->after->reason, SCREEN_WIDTH));
}

/* What got worse is told always; what got better, to whoever asks. */
static bool
is_told(enum bench_change_kind kind, int verbosity)
{
    return kind == BENCH_SLOWER || kind == BENCH_LOST || kind == BENCH_MENDED ||
           (verbosity > 0 && kind == BENCH_FASTER);
}

static void
put_equal_costs(struct buf *out, const struct bench_view *before, const struct bench_view *after,
                const struct bench_comparison *comparison)
{
    for (unsigned cost = 0; cost < BENCH_COST_COUNT; cost++) {
        size_t tasks;
        double ratio = bench_compare_cost(out->arena, before, after, comparison,
                                          (enum bench_cost)cost, &tasks);
        if (tasks > 0)
            buf_printf(out, "  at equal %s: %s (%zu tasks)\n", bench_cost_name[cost],
                       bench_ratio_text(out->arena, ratio), tasks);
    }
}

void
bench_show_comparison(struct buf *out, const struct bench_view *before,
                      const struct bench_view *after, const struct bench_comparison *comparison,
                      double gate, int verbosity)
{
    const size_t *counts = comparison->counts;
    buf_printf(out, "  faster %zu, slower %zu, same %zu (beyond %.0f %%, paired)\n",
               counts[BENCH_FASTER], counts[BENCH_SLOWER], counts[BENCH_SAME], 100 * BENCH_MARGIN);
    if (counts[BENCH_LOST] + counts[BENCH_MENDED] + counts[BENCH_NEVER] > 0)
        buf_printf(out, "  lost %zu, mended %zu, never correct %zu\n", counts[BENCH_LOST],
                   counts[BENCH_MENDED], counts[BENCH_NEVER]);
    if (comparison->only_before + comparison->only_after > 0)
        buf_printf(out, "  not in both: %zu only before, %zu only after\n", comparison->only_before,
                   comparison->only_after);
    for (size_t i = 0; i < comparison->count; i++)
        if (is_told(comparison->changes[i].kind, verbosity))
            put_change(out, &comparison->changes[i]);
    if (before->searches != NULL && after->searches != NULL)
        put_equal_costs(out, before, after, comparison);
    if (!isinf(gate) && bench_regressed(comparison, gate / 100))
        buf_printf(out, "exit 1 with --gate %g: a task got more than %g %% slower%s\n", gate, gate,
                   counts[BENCH_LOST] > 0 ? ", or was lost" : "");
}
