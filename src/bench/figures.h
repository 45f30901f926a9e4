/* Published figures of searches (doc/metrics.md): shares and bests of k of their attempts, what the
 * best was worth and what it cost. Whoever has the searches says what they did; nothing is read
 * here. NAN: a figure is not defined for what there is. */
#ifndef HONE_BENCH_FIGURES_H
#define HONE_BENCH_FIGURES_H

#include "report/metrics.h"

/*    id           name          what a search spends */
#define BENCH_COSTS(X)            \
    X(EVALUATIONS, "evaluations") \
    X(TOKENS, "tokens")           \
    X(MONEY, "usd")

enum bench_cost {
#define X(id, name) BENCH_##id,
    BENCH_COSTS(X)
#undef X
        BENCH_COST_COUNT
};

extern const char *const bench_cost_name[BENCH_COST_COUNT];

struct bench_search {             /* of one task */
    struct metrics_task attempts; /* kernels that were judged, in their order */
    struct metrics_curve curves[BENCH_COST_COUNT];
    const char *baseline;                  /* NULL: there is none */
    double baseline_us, light_us, best_us; /* in the case that the attempts were timed in */
    double code_bleu;                      /* of its best to what it began with */
    const char *limit;                     /* what keeps it from the speed of light; "" */
};

/* The number of the last attempt, from 1 on, that was better than all before it by so much that it
 * is no noise. 0: none was correct. */
size_t
bench_last_gain(const struct bench_search *search);

double
bench_area(const struct bench_search *search, double budget);
double
bench_light_score(const struct bench_search *search);

#define BENCH_AT_COUNT 3 /* values of k that are told */

struct bench_at {
    size_t k;
    double build, pass, speedup, efficiency, perf;
};

struct bench_figures {
    const char *baseline;
    size_t tasks, attempts;
    double compile_rate, correct_rate;
    struct bench_at at[BENCH_AT_COUNT];
    double light_score, area, code_bleu; /* means over the tasks that have them */
};

struct bench_terms {
    const char *baseline;
    double evaluations; /* that each search was allowed; NAN: as many as it made */
    double threads;
};

void
bench_figure(struct arena *arena, const struct bench_search *const *searches, size_t count,
             const struct bench_terms *terms, struct bench_figures *figures);

/* How many times as fast `a` is as `b` after the same cost: the geometric mean over the pairs of
 * searches for which it is defined, and how many these are. Nobody spent anything: NAN. */
double
bench_equal_cost(struct arena *arena, const struct bench_search *const *a,
                 const struct bench_search *const *b, size_t count, enum bench_cost cost,
                 size_t *defined);

#endif
