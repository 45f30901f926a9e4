#include "bench/figures.h"

#include <math.h>

static const size_t told_k[BENCH_AT_COUNT] = {1, 5, 10};
static const double NOISE = 1.01; /* a smaller gain over the best so far is none */

const char *const bench_cost_name[BENCH_COST_COUNT] = {
#define X(id, name) name,
    BENCH_COSTS(X)
#undef X
};

/* ---- one search ---- */

size_t
bench_last_gain(const struct bench_search *search)
{
    const struct metrics_curve *curve = &search->curves[BENCH_EVALUATIONS];
    double best = INFINITY;
    size_t last = 0;

    for (size_t i = 0; i < curve->count; i++) {
        double us = curve->steps[i].time_us;

        if (!(us * NOISE < best))
            continue;
        best = us;
        last = i + 1;
    }
    return last;
}

double
bench_area(const struct bench_search *search, double budget)
{
    const struct metrics_curve *curve = &search->curves[BENCH_EVALUATIONS];

    return metrics_area(curve, search->baseline_us, isnan(budget) ? (double)curve->count : budget);
}

double
bench_light_score(const struct bench_search *search)
{
    return metrics_light_score(search->light_us, search->baseline_us, search->best_us);
}

/* ---- several ---- */

struct mean {
    double sum;
    size_t count;
};

static void
mean_add(struct mean *mean, double value)
{
    if (isnan(value))
        return;
    mean->sum += value;
    mean->count++;
}

static double
mean_value(const struct mean *mean)
{
    return mean->count > 0 ? mean->sum / (double)mean->count : NAN;
}

static struct bench_at
at_of(struct arena *arena, const struct metrics_task *tasks, size_t count, size_t k, double threads)
{
    return (struct bench_at){.k = k,
                             .build = metrics_build_at(tasks, count, k),
                             .pass = metrics_pass_at(tasks, count, k),
                             .speedup = metrics_speedup_at(arena, tasks, count, k),
                             .efficiency = metrics_efficiency_at(arena, tasks, count, k, threads),
                             .perf = metrics_perf_at(arena, tasks, count, k)};
}

void
bench_figure(struct arena *arena, const struct bench_search *const *searches, size_t count,
             const struct bench_terms *terms, struct bench_figures *figures)
{
    struct metrics_task *tasks = arena_array(arena, count + 1, sizeof *tasks);
    struct mean light = {0}, area = {0}, likeness = {0};

    *figures = (struct bench_figures){.baseline = terms->baseline, .tasks = count};
    for (size_t i = 0; i < count; i++) {
        tasks[i] = searches[i]->attempts;
        figures->attempts += tasks[i].count;
        mean_add(&light, bench_light_score(searches[i]));
        mean_add(&area, bench_area(searches[i], terms->evaluations));
        mean_add(&likeness, searches[i]->code_bleu);
    }
    figures->compile_rate = metrics_compile_rate(tasks, count);
    figures->correct_rate = metrics_correct_rate(tasks, count);
    for (unsigned i = 0; i < BENCH_AT_COUNT; i++)
        figures->at[i] = at_of(arena, tasks, count, told_k[i], terms->threads);
    figures->light_score = mean_value(&light);
    figures->area = mean_value(&area);
    figures->code_bleu = mean_value(&likeness);
}

static bool
has_spent(const struct metrics_curve *curve)
{
    return curve->count > 0 && curve->steps[curve->count - 1].cost > 0;
}

double
bench_equal_cost(struct arena *arena, const struct bench_search *const *a,
                 const struct bench_search *const *b, size_t count, enum bench_cost cost,
                 size_t *defined)
{
    double *ratios = arena_array(arena, count + 1, sizeof *ratios);

    *defined = 0;
    for (size_t i = 0; i < count; i++) {
        const struct metrics_curve *one = &a[i]->curves[cost], *other = &b[i]->curves[cost];
        double ratio = has_spent(one) && has_spent(other) ? metrics_equal_cost(one, other) : NAN;

        if (ratio > 0)
            ratios[(*defined)++] = ratio;
    }
    return metrics_geometric_mean(ratios, *defined);
}
