/* The figures of a benchmark, from its rows. */
#include "bench/bench.h"

#include "bench/rivals.h"
#include "bench/suite.h"
#include "report/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const bench_speed_name[BENCH_SPEED_COUNT] = {
#define X(id, p, name) name,
    BENCH_SPEEDS(X)
#undef X
};

const double bench_speed_p[BENCH_SPEED_COUNT] = {
#define X(id, p, name) p,
    BENCH_SPEEDS(X)
#undef X
};

const char *const bench_part_name[BENCH_PART_COUNT] = {
#define X(id, name) name,
    BENCH_PARTS(X)
#undef X
};

/* ---- rows ---- */

bool
bench_is_done(const struct store_bench_task *row)
{
    return row->status[0] != '\0';
}

bool
bench_is_correct(const struct store_bench_task *row)
{
    return strcmp(row->status, "correct") == 0;
}

const struct store_baseline *
bench_baseline(const struct store_bench_task *row, const char *name)
{
    for (size_t i = 0; i < row->baseline_count; i++)
        if (!strcmp(row->baselines[i].name, name))
            return &row->baselines[i];
    return NULL;
}

bool
bench_took_part(const struct store_baseline *baseline)
{
    return !isnan(baseline->time_us);
}

struct bench_builds
bench_builds(const struct store_bench_task *row, const char *rival)
{
    struct bench_builds builds = {0};
    size_t length = strlen(rival);

    for (size_t i = 0; i < row->baseline_count; i++) {
        const char *name = row->baselines[i].name;

        if (strncmp(name, rival, length) != 0 || name[length] != '.' || !bench_is_claimed(name))
            continue;
        builds.asked++;
        builds.there += bench_took_part(&row->baselines[i]);
    }
    return builds;
}

/* The plain C is timed with the verdict, the others in a race. */
double
bench_time_beside(const struct store_bench_task *row, const char *baseline)
{
    const struct store_baseline *ours = bench_baseline(row, BENCH_OURS);

    return ours && strcmp(baseline, "naive") != 0 ? ours->time_us : row->time_us;
}

double
bench_speedup(const struct store_bench_task *row, const char *baseline)
{
    const struct store_baseline *found = bench_baseline(row, baseline);

    return found && bench_is_correct(row) ? found->speedup : NAN;
}

/* ---- one line ---- */

static bool
is_marked(const struct store_bench_task *row)
{
    return suite_has_mark(row->marks, SUITE_WASTEFUL) || suite_has_mark(row->marks, SUITE_CONSTANT);
}

/* Tasks that have no correct kernel count against us, except where a time decides, which they have
 * not, or where nobody knows whether the baseline has the task. One that is correct and has no time
 * of the baseline cannot count. */
static bool
is_in_part(const struct store_bench_task *row, const char *baseline, enum bench_part part)
{
    const struct store_baseline *time = bench_baseline(row, baseline);

    if (part != BENCH_ALL && is_marked(row))
        return false;
    if (!bench_is_correct(row))
        return part != BENCH_LONG && !bench_is_partial(baseline);
    return time && isfinite(time->speedup) && (part != BENCH_LONG || time->time_us > BENCH_LONG_US);
}

/* A build that was asked in any task is one of those the baseline is the best of. */
static void
count_builds(const struct store_bench_task *const *rows, size_t count, struct bench_line *line)
{
    for (size_t i = 0; i < count; i++) {
        size_t asked = bench_builds(rows[i], line->baseline).asked;

        line->builds = asked > line->builds ? asked : line->builds;
    }
    for (size_t i = 0; i < count; i++)
        line->fewer += is_in_part(rows[i], line->baseline, line->part) &&
                       bench_baseline(rows[i], line->baseline) &&
                       bench_builds(rows[i], line->baseline).there < line->builds;
}

static struct bench_line
line_of(struct arena *arena, const struct store_bench_task *const *rows, size_t count,
        const char *baseline, enum bench_part part)
{
    struct bench_line line = {.baseline = baseline, .part = part};
    struct metrics_attempt *attempts = arena_array(arena, count + 1, sizeof *attempts);
    struct metrics_task *tasks = arena_array(arena, count + 1, sizeof *tasks);

    for (size_t i = 0; i < count; i++) {
        line.left_out += is_marked(rows[i]) && is_in_part(rows[i], baseline, BENCH_ALL);
        if (!is_in_part(rows[i], baseline, part))
            continue;
        attempts[line.tasks] =
            (struct metrics_attempt){.built = bench_is_correct(rows[i]),
                                     .correct = bench_is_correct(rows[i]),
                                     .speedup = bench_speedup(rows[i], baseline)};
        tasks[line.tasks] = (struct metrics_task){&attempts[line.tasks], 1};
        line.tasks++;
    }
    count_builds(rows, count, &line);
    line.geomean = metrics_mean_speedup(tasks, line.tasks);
    for (unsigned i = 0; i < BENCH_SPEED_COUNT; i++)
        line.fast[i] = metrics_fast(tasks, line.tasks, bench_speed_p[i]);
    return line;
}

/* The first baseline in all parts, the others in all tasks. */
static void
add_lines(struct arena *arena, const struct store_bench_task *const *rows, size_t count,
          const char *against, struct bench_summary *summary)
{
    char *names = arena_strdup(arena, against);
    const size_t most = sizeof summary->lines / sizeof *summary->lines;

    for (char *name; (name = strsep(&names, ",")) != NULL;) {
        unsigned parts = summary->line_count == 0 ? BENCH_PART_COUNT : 1;

        for (unsigned part = 0; part < parts && summary->line_count < most; part++)
            summary->lines[summary->line_count++] =
                line_of(arena, rows, count, name, (enum bench_part)part);
    }
}

/* ---- the slowest ---- */

struct ranked {
    const struct store_bench_task *row;
    double speedup;
};

static int
by_speedup(const void *a, const void *b)
{
    double x = ((const struct ranked *)a)->speedup, y = ((const struct ranked *)b)->speedup;

    return (x > y) - (x < y);
}

static void
find_slowest(struct arena *arena, const struct store_bench_task *const *rows, size_t count,
             const char *baseline, struct bench_summary *summary)
{
    struct ranked *ranked = arena_array(arena, count + 1, sizeof *ranked);
    size_t known = 0;

    for (size_t i = 0; i < count; i++)
        if (!isnan(bench_speedup(rows[i], baseline)))
            ranked[known++] = (struct ranked){rows[i], bench_speedup(rows[i], baseline)};
    qsort(ranked, known, sizeof *ranked, by_speedup);
    for (; summary->slowest_count < BENCH_SLOWEST && summary->slowest_count < known;
         summary->slowest_count++)
        summary->slowest[summary->slowest_count] = ranked[summary->slowest_count].row;
}

/* ---- all of it ---- */

static void
count_rows(struct arena *arena, const struct store_bench_task *const *rows, size_t count,
           struct bench_summary *summary)
{
    double *light = arena_array(arena, count + 1, sizeof *light);

    for (size_t i = 0; i < count; i++) {
        light[i] = bench_is_correct(rows[i]) ? rows[i]->light : NAN;
        summary->correct += bench_is_correct(rows[i]);
        summary->broken += strcmp(rows[i]->status, BENCH_BROKEN) == 0;
        summary->evaluations += (double)rows[i]->evaluations;
        summary->seconds += isnan(rows[i]->seconds) ? 0 : rows[i]->seconds;
    }
    summary->done = count;
    summary->light_median = metrics_quantile(arena, light, count, 0.5);
    summary->light_tenth = metrics_quantile(arena, light, count, 0.1);
}

void
bench_summarise(struct arena *arena, const struct store_bench_task *rows, size_t count,
                const char *against, const char *recipe, struct bench_summary *summary)
{
    const struct store_bench_task **done = arena_array(arena, count + 1, sizeof *done);
    size_t done_count = 0;

    *summary = (struct bench_summary){.recipe = recipe};
    for (size_t i = 0; i < count; i++) {
        if (recipe && strcmp(rows[i].recipe, recipe) != 0)
            continue;
        summary->tasks++;
        if (bench_is_done(&rows[i]))
            done[done_count++] = &rows[i];
    }
    count_rows(arena, done, done_count, summary);
    add_lines(arena, done, done_count, against, summary);
    find_slowest(arena, done, done_count, summary->lines[0].baseline, summary);
}
