/* run: the loop. Propose, build, judge, record, tell, until the budget is spent.
 *
 *   run_optimize     the fastest kernel that the built-in proposer finds for a task
 *
 * What a candidate does wrong is data. STATUS_INPUT and STATUS_MACHINE mean what they mean
 * everywhere; STATUS_NO: nothing correct was found.
 *
 * Ownership law: results live in the arena given.
 */
#ifndef HONE_RUN_RUN_H
#define HONE_RUN_RUN_H

#include "coder/coder.h"
#include "judge/judge.h"
#include "store/store.h"

#include <signal.h>

/* What is known in the middle of it. */
struct run_progress {
    const struct program *program;
    size_t case_number, case_count;
    unsigned evaluations, most; /* in all */
    double seconds, most_seconds;
    double best_us, light_us; /* of this case; best_us is INFINITY at first */
    const char *limit;
    const char *schedule;  /* of the candidate just judged */
    const char *said;      /* "correct, 8 % slower", "wrong: ..." */
    bool better;           /* it is the best so far */
    const double *history; /* best_us after each evaluation of this case */
    size_t history_count;
};

struct run_options {
    struct lang *lang;
    const size_t *cases; /* numbers of lang's cases that are tuned and timed */
    size_t case_count;
    const struct target *target;
    struct coder_machine machine;
    unsigned threads; /* 0: all */
    uint64_t seed;
    unsigned evaluations;              /* in all */
    double seconds;                    /* in all; 0: no limit */
    unsigned patience;                 /* stop a case after so many without progress; 0: 24 */
    double until_light;                /* share of the speed of light that is enough; 0: 0.95 */
    const volatile sig_atomic_t *stop; /* set by ^C; may be NULL */
    void (*progress)(void *context, const struct run_progress *progress); /* may be NULL */
    void *context;
    struct store *store;   /* where it is recorded; NULL: nowhere */
    struct store_run *run; /* begun there by the caller */
    const char *machine_key, *family;
};

/* One candidate of a case. */
struct run_candidate {
    unsigned number; /* from 1 */
    const char *schedule, *kernel;
    enum judge_status status;
    const char *reason;
    double us; /* median; INFINITY unless correct */
};

struct run_case {
    const struct program *program;
    struct light light;
    const char *schedule; /* filled; NULL: nothing correct was found */
    const char *kernel;
    const char *words; /* what it does */
    double us;
    unsigned evaluations;
    struct run_candidate *tried;
    size_t tried_count;
};

struct run_result {
    struct run_case *cases;
    size_t case_count;
    const char *kernel;         /* the file: all cases */
    struct judge_report report; /* of that file, all cases, with `naive` */
    unsigned evaluations, failed;
    double seconds;
    const char *stopped; /* "evals", "time", "light", "no progress", "you" */
};

enum status
run_optimize(struct arena *arena, struct judge *judge, const struct run_options *options,
             struct run_result *result, struct diags *diags);

#endif
