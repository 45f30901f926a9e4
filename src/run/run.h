/* run: the loop. Propose, build, judge, record, tell, until the budget is spent.
 *
 *   run_optimize      the fastest kernel that the built-in proposer finds for a task
 *   run_optimize_by   the same with another judge: tests answer from what was measured before
 *   run_dry           what would be asked of models
 *   run_family        programs whose schedules may suit one another
 *   run_start_read    the schedules that a kernel file of ours carries
 *   run_put_verdict   a verdict as JSON
 *   run_put_library   a kernel file's schedules as a library for every size and instruction set
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
#include "llm/llm.h"
#include "profile/profile.h"
#include "recipe/recipe.h"
#include "store/store.h"

#include <signal.h>

/* ---- what it begins with ---- */

/* A kernel file. One that hone wrote is the sum of its schedules; any other is taken as it is. */
struct run_start {
    const char *file, *text;
    const struct coder_title *lines;
    size_t line_count; /* 0: hone did not write it */
};

void
run_start_read(struct arena *arena, const struct source *source, struct run_start *start);

/* ---- the options ---- */

enum run_mode {
    RUN_FRESH,
    RUN_RESUME, /* goes on where it was when its process ended */
    RUN_REPLAY, /* takes the same decisions again from what is in the archive, and nothing else */
};

/* What is known in the middle of it. */
struct run_progress {
    const struct program *program;
    size_t case_number, case_count;
    unsigned evaluations, most; /* in all */
    double seconds, most_seconds;
    double best_us, light_us; /* of this case; best_us is INFINITY at first */
    const char *limit;
    double naive_us;       /* what `naive` takes, about; 0: not known yet */
    const char *schedule;  /* of the candidate just judged; of a kernel that has none, its file */
    const char *said;      /* "correct, 8 % slower", "wrong: ..." */
    bool better;           /* it is the best so far */
    const double *history; /* best_us after each evaluation of this case */
    size_t history_count;
};

/* ---- a team ---- */

/* What just happened, for a screen. */
struct run_news {
    const char *phase, *role; /* role: also "builtin", "judge", "sweep" */
    unsigned lane, round, rounds;
    const char *text;         /* "correct 3.61 ms, 6 % faster, accepted" */
    double tokens;            /* of a reply that is coming in */
    bool waiting;             /* for that reply: nothing else is new */
    double best_us, light_us; /* of the first case */
    unsigned evaluations;
    double seconds;
    const struct llm_budget *budget;
};

struct run_role_model { /* --role coder=M */
    const char *role;
    const struct llm_model *model;
};

/* Who proposes, and how they are driven. */
struct run_team {
    const struct recipe *recipe;
    struct llm *llm; /* NULL: no model is ever asked */
    const struct llm_choice *models;
    size_t model_count; /* 0: none */
    bool stand_ins;     /* `builtin` plays every role; else phases with roles need a model */
    const struct run_role_model *roles;
    size_t role_count;
    const struct llm_model *embeddings; /* gives vectors of texts, for memory; NULL: none does */
    struct llm_budget *budget;
    /* Figures of a kernel in a case; STATUS_NO: there are none. NULL: nobody looks. */
    enum status (*profile)(void *context, struct arena *arena, const char *kernel,
                           const struct profile_options *options, struct profile *profile,
                           struct diags *diags);
    /* Asks a person; NULL: nobody is there. The answer, or NULL after `seconds`. */
    const char *(*ask)(void *context, const char *question, const char *choices, double seconds);
    void (*news)(void *context, const struct run_news *news); /* may be NULL */
    void *context;
    const char *cpu, *compiler, *flags; /* for prompts */
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
    double until_gain;                 /* so many times faster than `naive` is; 0: not asked for */
    const struct run_start *start;     /* what it begins with; NULL: nothing */
    const char *flags;                 /* that every kernel is built with besides; NULL: none */
    bool no_naive;                     /* the last verdict leaves it out: hours for some */
    bool deterministic;                /* the same bits twice, with one thread and with all */
    const volatile sig_atomic_t *stop; /* set by ^C; may be NULL */
    void (*progress)(void *context, const struct run_progress *progress); /* may be NULL */
    void *context;
    struct store *store;   /* where it is recorded; NULL: nowhere */
    struct store_run *run; /* begun or resumed there by the caller */
    enum run_mode mode;
    const char *machine_key, *family; /* see run_family() */
    const struct run_team *team;      /* NULL: the built-in search alone */
};

/* Equal for programs that differ in numbers alone: sizes that are written as such, constants. 64
 * hex digits. */
const char *
run_family(struct arena *arena, const struct program *program);

/* ---- the result ---- */

#define RUN_PLAIN "plain" /* who proposes the plain C of the operator */

/* One candidate of a case. */
struct run_candidate {
    unsigned number;      /* from 1 */
    int64_t id, row;      /* in the archive, and its number there; 0: not there */
    int node;             /* of a team: its number there, from 1; 0: of the search of one case */
    const char *proposer; /* "builtin", "memory", "start", RUN_PLAIN, a model */
    const char *schedule; /* filled; NULL: a kernel that somebody wrote */
    const char *kernel;
    enum judge_status status;
    const char *reason;
    double us; /* median; INFINITY unless correct */
};

struct run_case {
    const struct program *program;
    struct light light;
    const struct run_candidate *best; /* one of `tried`; NULL: nothing correct was found */
    const uint8_t *genes; /* of the best of the search, CODER_GENES; NULL: it has none */
    const char *words;    /* what its schedule does */
    unsigned evaluations;
    struct run_candidate *tried;
    size_t tried_count;
};

struct run_result {
    struct run_case *cases;
    size_t case_count;
    const char *kernel;         /* the file: all cases */
    int64_t number;             /* of the file among the run's candidates; -1: not recorded */
    struct judge_report report; /* of that file, all cases, with `naive` unless that is left out */
    unsigned evaluations, failed;
    double seconds;
    const char *difference; /* of a replay: the first decision that was another; NULL: none */
    bool over;              /* of a replay: the run had no end; all that there is was the same */
    unsigned proposals, accepted, unusable; /* of a team */
    double drafted_us;   /* first case, before the team began; INFINITY: nothing was */
    const char *stopped; /* "evals", "time", "light", "gain", "no progress", "checked", "rounds",
                            "correct", "controller", "plans empty", "calls", "you" */
};

enum status
run_optimize(struct arena *arena, struct judge *judge, const struct run_options *options,
             struct run_result *result, struct diags *diags);

/* ---- who judges ---- */

struct run_difference {      /* between two kernels, beyond the noise */
    bool faster, slower;     /* the challenger; neither: the same */
    double ratio, low, high; /* its time / the champion's, with its interval */
};

/* All that the loop asks of the judge: with the same seed, the same machine and the same answers it
 * takes the same decisions. Whoever answers in the judge's place makes tasks and kernels of its
 * own, which the loop only hands back. */
struct run_judge {
    void *context;
    double (*seconds)(void *context); /* a clock */
    enum status (*open)(void *context, const struct judge_setup *setup, struct judge_task **task,
                        struct diags *diags);
    void (*close)(void *context, struct judge_task *task); /* NULL is allowed */
    /* Builds a kernel and glances at it; *kernel is NULL unless it was built. */
    enum status (*look)(void *context, struct judge_task *task, struct arena *arena,
                        const char *text, struct judge_kernel **kernel, struct judge_report *report,
                        struct diags *diags);
    /* These will be looked at: they may be built by then. NULL: nothing is done ahead. */
    enum status (*ahead)(void *context, struct judge_task *task, const char *const *texts,
                         size_t count, struct diags *diags);
    void (*drop)(void *context, struct judge_kernel *kernel); /* NULL is allowed */
    /* Only builds it: nothing of it is run, and nothing is kept. */
    enum status (*build)(void *context, struct judge_task *task, struct arena *arena,
                         const char *text, struct judge_report *report, struct diags *diags);
    /* In the task's case of this number. */
    enum status (*compare)(void *context, struct judge_task *task, struct judge_kernel *champion,
                           struct judge_kernel *challenger, size_t number,
                           struct run_difference *difference, struct diags *diags);
    enum status (*verdict)(void *context, struct judge_task *task, struct arena *arena,
                           const char *text, struct judge_report *report, struct diags *diags);
    /* What `naive` takes in the task's first case, about, for a screen: nothing depends on it. 0:
     * not known. NULL: nobody knows. */
    enum status (*naive)(void *context, struct judge_task *task, double *us, struct diags *diags);
};

struct run_judge
run_real_judge(struct judge *judge);

enum status
run_optimize_by(struct arena *arena, const struct run_judge *judge,
                const struct run_options *options, struct run_result *result, struct diags *diags);

/* ---- before anything is done ---- */

struct run_dry_prompt {
    const char *phase, *role, *system, *user;
    const struct llm_model *model; /* NULL: a stand-in */
    double tokens, constant;       /* about; constant: of those, the same each time */
};

struct run_dry {
    struct run_dry_prompt *prompts;
    size_t count;
};

/* The first prompt of every role of options->team; nothing is measured or sent. STATUS_INPUT: one
 * cannot fit into the window of its model. */
enum status
run_dry(struct arena *arena, const struct run_options *options, struct run_dry *dry,
        struct diags *diags);

/* ---- texts ---- */

/* A library of a task, as a pair of files: the schedules of a kernel file for each case and each
 * instruction set, and plain C for all other sizes. STATUS_INPUT: no schedule of it fits. */
struct run_library {
    struct buf source, header;
    size_t kernels;
};

enum status
run_put_library(struct arena *arena, struct lang *lang, const struct target *target,
                const struct run_start *start, struct run_library *library, struct diags *diags);

/* One JSON object on one line, without a newline. */
void
run_put_verdict(struct buf *buf, const char *task, const char *target, const char *file,
                const struct judge_report *report);

#endif
