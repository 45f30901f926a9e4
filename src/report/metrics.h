/* Figures by which kernel generators are compared, as they were published; doc/metrics.md has each
 * definition, where it comes from, and what it leaves open.
 *
 * A task has attempts, an attempt has a speed-up: the baseline's time by its own. NAN: the figure
 * is not defined for what was given. Nothing is kept.
 */
#ifndef HONE_REPORT_METRICS_H
#define HONE_REPORT_METRICS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct metrics_attempt {
    bool built, correct;
    double speedup; /* NAN: it has none; counts only where it is correct */
};

struct metrics_task {
    const struct metrics_attempt *attempts;
    size_t count;
};

/* ---- shares ---- */

/* Attempts that built, and that are correct, of all attempts. */
double
metrics_compile_rate(const struct metrics_task *tasks, size_t count);
double
metrics_correct_rate(const struct metrics_task *tasks, size_t count);

/* 1 - C(n-c, k) / C(n, k): how likely one of k attempts out of n, c of them good, is good. */
double
metrics_pass(size_t attempts, size_t good, size_t k);

/* Its mean over the tasks that have at least k attempts: good is what built, or is correct. */
double
metrics_build_at(const struct metrics_task *tasks, size_t count, size_t k);
double
metrics_pass_at(const struct metrics_task *tasks, size_t count, size_t k);

/* Tasks whose best correct attempt is more than p times as fast as the baseline, of all tasks; for
 * p = 0 those that have a correct attempt. */
double
metrics_fast(const struct metrics_task *tasks, size_t count, double p);

/* ---- the best of k ---- */

/* The largest of k values drawn from these, on average. */
double
metrics_best_of(struct arena *arena, const double *values, size_t count, size_t k);

/* ParEval: over the correct attempts of each task, mean over the tasks that have k of them. */
double
metrics_speedup_at(struct arena *arena, const struct metrics_task *tasks, size_t count, size_t k);

/* The same for each of n threads; the baseline is the sequential one. */
double
metrics_efficiency_at(struct arena *arena, const struct metrics_task *tasks, size_t count, size_t k,
                      double threads);

/* TritonGym: over all attempts, those that failed count 0; tasks with a correct attempt without
 * speed-up are left out. */
double
metrics_perf_at(struct arena *arena, const struct metrics_task *tasks, size_t count, size_t k);

/* ---- means ---- */

/* Of those that are known and above zero. */
double
metrics_geometric_mean(const double *values, size_t count);

/* Of the best correct attempt of each task that has one. */
double
metrics_mean_speedup(const struct metrics_task *tasks, size_t count);

/* The value below which the share `q` lies, between neighbours in proportion; NAN values do not
 * count. */
double
metrics_quantile(struct arena *arena, const double *values, size_t count, double q);

/* ---- the speed of light ---- */

/* 1: the limit is reached. */
double
metrics_light(double light_us, double time_us);

/* SOL-ExecBench's score: 1/2 at the baseline's time, 1 at the limit and below it. */
double
metrics_light_score(double light_us, double baseline_us, double time_us);

/* ---- what it cost ---- */

struct metrics_step { /* one attempt of a search, in their order */
    double cost;      /* evaluations, tokens or money spent so far, never less than before */
    double time_us;   /* of a correct one; NAN: it was not */
};

struct metrics_curve {
    const struct metrics_step *steps;
    size_t count;
};

/* The best time for at most this cost; NAN: nothing was correct by then. */
double
metrics_best_within(const struct metrics_curve *curve, double cost);

/* How many times as fast as b a is when each has spent what the thriftier one spent in all. */
double
metrics_equal_cost(const struct metrics_curve *a, const struct metrics_curve *b);

/* The speed-up of the best so far, averaged over the cost from 0 to `budget`; 0 before the first
 * correct one. */
double
metrics_area(const struct metrics_curve *curve, double baseline_us, double budget);

/* ---- likeness of texts ---- */

struct metrics_code_bleu {
    double ngram, weighted, syntax, flow; /* each 0 to 1 */
    double score;                         /* a quarter of each */
};

/* How like a reference this C is. */
struct metrics_code_bleu
metrics_code_bleu(struct arena *arena, const char *reference, const char *candidate);

#endif
