#include "report/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- shares ---- */

static bool
is_built(const struct metrics_attempt *attempt)
{
    return attempt->built;
}

static bool
is_correct(const struct metrics_attempt *attempt)
{
    return attempt->correct;
}

typedef bool
good_attempt(const struct metrics_attempt *attempt);

static size_t
count_good(const struct metrics_task *task, good_attempt *good)
{
    size_t count = 0;
    for (size_t i = 0; i < task->count; i++)
        count += good(&task->attempts[i]);
    return count;
}

static double
rate(const struct metrics_task *tasks, size_t count, good_attempt *good)
{
    size_t all = 0, some = 0;
    for (size_t i = 0; i < count; i++) {
        all += tasks[i].count;
        some += count_good(&tasks[i], good);
    }
    return all > 0 ? (double)some / (double)all : NAN;
}

double
metrics_compile_rate(const struct metrics_task *tasks, size_t count)
{
    return rate(tasks, count, is_built);
}

double
metrics_correct_rate(const struct metrics_task *tasks, size_t count)
{
    return rate(tasks, count, is_correct);
}

/* As a product, since the binomials themselves overflow. */
double
metrics_pass(size_t attempts, size_t good, size_t k)
{
    if (k == 0 || k > attempts || good > attempts)
        return NAN;
    if (attempts - good < k)
        return 1;
    double none = 1;
    for (size_t i = attempts - good + 1; i <= attempts; i++)
        none *= 1 - (double)k / (double)i;
    return 1 - none;
}

static double
mean_pass(const struct metrics_task *tasks, size_t count, size_t k, good_attempt *good)
{
    double sum = 0;
    size_t defined = 0;
    for (size_t i = 0; i < count; i++) {
        double pass = metrics_pass(tasks[i].count, count_good(&tasks[i], good), k);
        if (isnan(pass))
            continue;
        sum += pass;
        defined++;
    }
    return defined > 0 ? sum / (double)defined : NAN;
}

double
metrics_build_at(const struct metrics_task *tasks, size_t count, size_t k)
{
    return mean_pass(tasks, count, k, is_built);
}

double
metrics_pass_at(const struct metrics_task *tasks, size_t count, size_t k)
{
    return mean_pass(tasks, count, k, is_correct);
}

/* Of the best correct attempt; NAN: none has one. */
static double
best_speedup(const struct metrics_task *task)
{
    double best = NAN;
    for (size_t i = 0; i < task->count; i++)
        if (task->attempts[i].correct)
            best = fmax(best, task->attempts[i].speedup);
    return best;
}

double
metrics_fast(const struct metrics_task *tasks, size_t count, double p)
{
    size_t fast = 0;
    for (size_t i = 0; i < count; i++)
        fast += p == 0 ? count_good(&tasks[i], is_correct) > 0 : best_speedup(&tasks[i]) > p;
    return count > 0 ? (double)fast / (double)count : NAN;
}

/* ---- the best of k ---- */

static int
by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double *
sorted(struct arena *arena, const double *values, size_t count)
{
    double *copy = arena_grow(arena, values, count, count, sizeof *values);
    qsort(copy, count, sizeof *copy, by_value);
    return copy;
}

/* The j-th smallest of n is the largest of k in C(j-1, k-1) of the C(n, k) draws. These weights are
 * walked down from k/n, that of the n-th, each from the one above it: no binomial is ever formed.
 */
double
metrics_best_of(struct arena *arena, const double *values, size_t count, size_t k)
{
    if (k == 0 || k > count)
        return NAN;
    const double *rising = sorted(arena, values, count);
    double weight = (double)k / (double)count, sum = 0;
    for (size_t j = count; j >= k; j--) {
        sum += weight * rising[j - 1];
        weight *= (double)(j - k) / (double)(j - 1 ? j - 1 : 1);
    }
    return sum;
}

/* What enters the best of k: of a task's attempts those that are correct, or all, failures as 0. A
 * correct one whose speed-up nobody knows (there is no time of the baseline) is no failure: with it
 * the mean over all attempts is not known. */
static double
task_best_of(struct arena *arena, const struct metrics_task *task, size_t k, bool failures)
{
    double *speedups = arena_array(arena, task->count, sizeof *speedups);
    size_t count = 0;
    for (size_t i = 0; i < task->count; i++) {
        const struct metrics_attempt *attempt = &task->attempts[i];
        bool timed = attempt->correct && !isnan(attempt->speedup);
        if (attempt->correct && !timed && failures)
            return NAN;
        if (timed || failures)
            speedups[count++] = timed ? attempt->speedup : 0;
    }
    return metrics_best_of(arena, speedups, count, k);
}

static double
mean_best_of(struct arena *arena, const struct metrics_task *tasks, size_t count, size_t k,
             bool failures)
{
    double sum = 0;
    size_t defined = 0;
    for (size_t i = 0; i < count; i++) {
        double best = task_best_of(arena, &tasks[i], k, failures);
        if (isnan(best))
            continue;
        sum += best;
        defined++;
    }
    return defined > 0 ? sum / (double)defined : NAN;
}

double
metrics_speedup_at(struct arena *arena, const struct metrics_task *tasks, size_t count, size_t k)
{
    return mean_best_of(arena, tasks, count, k, false);
}

double
metrics_efficiency_at(struct arena *arena, const struct metrics_task *tasks, size_t count, size_t k,
                      double threads)
{
    return threads > 0 ? metrics_speedup_at(arena, tasks, count, k) / threads : NAN;
}

double
metrics_perf_at(struct arena *arena, const struct metrics_task *tasks, size_t count, size_t k)
{
    return mean_best_of(arena, tasks, count, k, true);
}

/* ---- means ---- */

struct log_mean {
    double sum;
    size_t count;
};

static void
log_mean_add(struct log_mean *mean, double value)
{
    if (!(value > 0))
        return;
    mean->sum += log(value);
    mean->count++;
}

static double
log_mean_value(const struct log_mean *mean)
{
    return mean->count > 0 ? exp(mean->sum / (double)mean->count) : NAN;
}

double
metrics_geometric_mean(const double *values, size_t count)
{
    struct log_mean mean = {0};
    for (size_t i = 0; i < count; i++)
        log_mean_add(&mean, values[i]);
    return log_mean_value(&mean);
}

double
metrics_mean_speedup(const struct metrics_task *tasks, size_t count)
{
    struct log_mean mean = {0};
    for (size_t i = 0; i < count; i++)
        log_mean_add(&mean, best_speedup(&tasks[i]));
    return log_mean_value(&mean);
}

double
metrics_quantile(struct arena *arena, const double *values, size_t count, double q)
{
    double *known = arena_array(arena, count, sizeof *known);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            known[kept++] = values[i];
    if (kept == 0 || !(q >= 0 && q <= 1))
        return NAN;
    qsort(known, kept, sizeof *known, by_value);
    double at = q * (double)(kept - 1);
    size_t below = (size_t)at;
    double part = at - (double)below;
    return part > 0 ? known[below] + part * (known[below + 1] - known[below]) : known[below];
}

/* ---- the speed of light ---- */

double
metrics_light(double light_us, double time_us)
{
    return time_us > 0 ? light_us / time_us : NAN;
}

/* A kernel that does less work than was counted (a wasteful reference) is below the limit, where
 * the formula has a pole and changes its sign: it has reached the limit, and that is all. Where the
 * baseline is at the limit already there is no way between them: all or nothing. */
double
metrics_light_score(double light_us, double baseline_us, double time_us)
{
    if (isnan(light_us) || isnan(baseline_us) || isnan(time_us))
        return NAN;
    if (time_us <= light_us)
        return 1;
    if (baseline_us <= light_us)
        return 0;
    return 1 / (1 + (time_us - light_us) / (baseline_us - light_us));
}

/* ---- what it cost ---- */

double
metrics_best_within(const struct metrics_curve *curve, double cost)
{
    double best = NAN;
    for (size_t i = 0; i < curve->count && curve->steps[i].cost <= cost; i++)
        best = fmin(best, curve->steps[i].time_us);
    return best;
}

double
metrics_equal_cost(const struct metrics_curve *a, const struct metrics_curve *b)
{
    if (a->count == 0 || b->count == 0)
        return NAN;
    double cost = fmin(a->steps[a->count - 1].cost, b->steps[b->count - 1].cost);
    return metrics_best_within(b, cost) / metrics_best_within(a, cost);
}

double
metrics_area(const struct metrics_curve *curve, double baseline_us, double budget)
{
    double area = 0, spent = 0, best = NAN;
    if (!(budget > 0) || isnan(baseline_us))
        return NAN;
    for (size_t i = 0; i <= curve->count; i++) {
        double cost = i < curve->count ? fmin(curve->steps[i].cost, budget) : budget;
        if (best > 0)
            area += (cost - spent) * baseline_us / best;
        spent = cost;
        if (i < curve->count)
            best = fmin(best, curve->steps[i].time_us);
    }
    return area / budget;
}
