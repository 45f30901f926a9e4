/* bench: many tasks, one table.
 *
 *   bench_summarise   the figures of a benchmark: all tasks, the headline, those that take long
 *   bench_compare     two benchmarks, task by task: what got faster or slower beyond the noise
 *   bench_run_race    windows of our kernel and of a rival's builds, taken in turns
 *   bench_work        the tasks that are left, each in a process of its own
 *
 * Rows are those of the archive (store.h): a benchmark's plan is there before it begins, and what
 * came of a task is there when its process ends. suite.h says which tasks a word means,
 * doc/bench.md what the figures mean.
 *
 * Ownership law: results live in the arena given, and point into the rows given.
 */
#ifndef HONE_BENCH_BENCH_H
#define HONE_BENCH_BENCH_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/proc.h"
#include "base/status.h"
#include "store/store.h"

#include <signal.h>

/* ---- rows ---- */

/* Besides what the judge says: the task could not be judged at all. */
#define BENCH_BROKEN "broken"

bool
bench_is_done(const struct store_bench_task *row);
bool
bench_is_correct(const struct store_bench_task *row);

/* NULL: it was not timed against this baseline. */
const struct store_baseline *
bench_baseline(const struct store_bench_task *row, const char *name);

/* A build that did not work is a row without figures, whose `build` says why. */
bool
bench_took_part(const struct store_baseline *baseline);

/* How many builds of a rival the best of them is taken from, and how many were asked. */
struct bench_builds {
    size_t asked, there;
};

struct bench_builds
bench_builds(const struct store_bench_task *row, const char *rival);

/* What our kernel took beside this baseline. */
double
bench_time_beside(const struct store_bench_task *row, const char *baseline);

/* Of a correct row; NAN otherwise. */
double
bench_speedup(const struct store_bench_task *row, const char *baseline);

/* ---- a summary ---- */

/*    id       p    name */
#define BENCH_SPEEDS(X)     \
    X(0, 0.0, "fast_0")     \
    X(1, 1.0, "fast_1")     \
    X(1_5, 1.5, "fast_1.5") \
    X(2, 2.0, "fast_2")

enum bench_speed {
#define X(id, p, name) BENCH_FAST_##id,
    BENCH_SPEEDS(X)
#undef X
        BENCH_SPEED_COUNT
};

extern const char *const bench_speed_name[BENCH_SPEED_COUNT];
extern const double bench_speed_p[BENCH_SPEED_COUNT];

/* Which of the tasks. Each is a part of the one before it.
 *    id        name       what is in it */
#define BENCH_PARTS(X)                                                      \
    X(ALL, "all")           /* every task that was tried */                 \
    X(HEADLINE, "headline") /* without those marked wasteful or constant */ \
    X(LONG, "above_100_us") /* of these, those whose baseline takes so long */

enum bench_part {
#define X(id, name) BENCH_##id,
    BENCH_PARTS(X)
#undef X
        BENCH_PART_COUNT
};

extern const char *const bench_part_name[BENCH_PART_COUNT];

#define BENCH_LONG_US 100.0
#define BENCH_SLOWEST 10
#define BENCH_DIM 0.7 /* of the speed of light: who is below it says what limits it */

struct bench_line { /* against one baseline, in one part */
    const char *baseline;
    enum bench_part part;
    double geomean, fast[BENCH_SPEED_COUNT];
    size_t tasks, left_out; /* left_out: marked, and so not in the headline */
    size_t builds, fewer;   /* of how many the baseline is the best; of fewer in so many tasks */
};

#define BENCH_MOST_LINES (BENCH_PART_COUNT + 6)

struct bench_summary {
    const char *recipe;                        /* NULL: whatever it is */
    size_t tasks, done, correct, broken;       /* the others are wrong */
    struct bench_line lines[BENCH_MOST_LINES]; /* the first baseline's parts, then the others */
    size_t line_count;
    double light_median, light_tenth; /* of the correct ones; the lowest tenth lies below it */
    double evaluations, seconds;      /* in all */
    const struct store_bench_task *slowest[BENCH_SLOWEST]; /* by the first baseline, worst first */
    size_t slowest_count;
};

/* The rows of this recipe (NULL: all); `against`: names of baselines, separated by commas. */
void
bench_summarise(struct arena *arena, const struct store_bench_task *rows, size_t count,
                const char *against, const char *recipe, struct bench_summary *summary);

/* ---- a comparison ---- */

/*    id         name       what happened to a task */
#define BENCH_CHANGES(X)                                     \
    X(FASTER, "faster")                                      \
    X(SLOWER, "slower")                                      \
    X(SAME, "same")                                          \
    X(MENDED, "mended") /* it is correct now, and was not */ \
    X(LOST, "lost")     /* it was correct, and is no more */ \
    X(NEVER, "never")   /* neither was correct */

enum bench_change_kind {
#define X(id, name) BENCH_##id,
    BENCH_CHANGES(X)
#undef X
        BENCH_CHANGE_COUNT
};

extern const char *const bench_change_name[BENCH_CHANGE_COUNT];

struct bench_change {
    enum bench_change_kind kind;
    const struct store_bench_task *before, *after;
    double ratio, low, high; /* time after / before, with its interval; NAN */
};

#define BENCH_MARGIN 0.02 /* less is not called a change, whatever the intervals say */

struct bench_comparison {
    struct bench_change *changes; /* in the order of `after` */
    size_t count, counts[BENCH_CHANGE_COUNT];
    size_t only_before, only_after; /* tasks that the other has not, or has not done */
};

void
bench_compare(struct arena *arena, const struct store_bench_task *before, size_t before_count,
              const struct store_bench_task *after, size_t after_count,
              struct bench_comparison *comparison);

/* Whether a task got more than this share slower beyond the noise, or was lost. */
bool
bench_regressed(const struct bench_comparison *comparison, double share);

/* ---- a race against builds of another library ---- */

/* A kernel in several builds, elsewhere; ours is one too. */
struct bench_racer {
    void *context;
    const char *const *builds;
    size_t count;
    /* Makes a build ready; false, with the reason: it does not work and does not take part. */
    bool (*prepare)(void *context, size_t build, struct diags *diags);
    /* Times of single calls in microseconds within so many seconds. 0, with the reason: it failed,
     * and takes part no more. */
    size_t (*window)(void *context, size_t build, double seconds, double *us, size_t most,
                     struct diags *diags);
};

struct bench_rival {
    const char *name; /* "torch" */
    struct bench_racer racer;
    size_t claimed;      /* the builds before this one may be the best; the others are shown */
    struct diags *diags; /* why builds of it failed */
};

struct bench_race {
    unsigned rounds;     /* of windows */
    double seconds;      /* of one window */
    double pause;        /* seconds before each: threads of the one before may still spin */
    double most_seconds; /* after which six rounds are enough; 0: never */
};

/* What our kernel took in the race is a row too; its verdict was taken under other conditions. */
#define BENCH_OURS "hone"

/* Our kernel is the only build of `ours`. The rows: of each rival its best build under its name,
 * then each as "NAME.BUILD", also those that did not work (bench_took_part()); at last ours. A
 * rival of whom no claimed build works has none under its name. Reasons are in its diags too. */
enum status
bench_run_race(struct arena *arena, const struct bench_race *race, const struct bench_racer *ours,
               const struct bench_rival *rivals, size_t rival_count, struct store_baseline **rows,
               size_t *count, struct diags *diags);

/* ---- the work ---- */

struct bench_team {
    void *context;
    unsigned jobs;   /* processes at once; each has its share of the processors */
    double patience; /* seconds after which one that has not ended is killed; 0: never */
    const volatile sig_atomic_t *stop; /* set: no other is begun; may be NULL */
    /* The command that measures a task, ended by NULL. */
    const char *const *(*command)(void *context, struct arena *arena, size_t task);
    /* Whatever it has said so far, whole lines, and again when there is more. */
    void (*news)(void *context, size_t task, const char *text);
    /* A moment has passed. */
    void (*tick)(void *context);
    /* It has ended; what it left in the archive is there. A bad status ends the work. */
    enum status (*ended)(void *context, size_t task, const struct proc_result *result);
};

enum status
bench_work(const struct bench_team *team, size_t task_count, struct diags *diags);

#endif
