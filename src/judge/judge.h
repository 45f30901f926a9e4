/* judge: is a kernel right, and how fast is it really.
 *
 *   judge_open        a box, a fork server, a clock: once
 *   judge_fits        can these cases be judged here at all
 *   judge_task_open   what is asked for: cases, secret inputs, references, threads
 *   judge_build       a kernel's text becomes an object for each case, audited
 *   judge_build_ahead the same for several at once, to be found later
 *   judge_check       every element of every output, on inputs of every kind
 *   judge_measure     its time, interleaved with baselines; the timed calls are checked too
 *   judge_verdict     the three in a row: what most callers want
 *   judge_glance      a first look at a built one: one set of inputs, a few samples
 *   judge_compare     which of two kernels is faster
 *   judge_window      times of one, for who takes turns with what no box can hold
 *
 * What a kernel does is data: it goes into the verdict, and the function returns STATUS_OK. A fault
 * of this machine or of ours is a negative status with a message, and nothing was judged. What the
 * judge promises and what it does not is written in doc/judge.md.
 *
 * Ownership: a judge, a task and a kernel are opened and closed by their owner, the judge last.
 * All belong to one thread at a time. Verdicts live in the arena that the caller gave.
 */
#ifndef HONE_JUDGE_JUDGE_H
#define HONE_JUDGE_JUDGE_H

#include "base/log.h"
#include "box/box.h"
#include "lang/lang.h"
#include "measure/measure.h"
#include "target/target.h"
#include "task/task.h"

/* ---- a verdict ---- */

/*    id            name           what it says */
#define JUDGE_STATUSES(X)                                                                         \
    X(BUILT, "built")               /* it compiles and may be run; nothing else is known */       \
    X(BUILD_FAILED, "build_failed") /* the compiler refused it, or its prototype differs */       \
    X(REJECTED, "rejected")         /* it breaks the contract: a symbol, a system call, a flag */ \
    X(CRASHED, "crashed")           /* a signal, or it ended before its call returned */          \
    X(TIMED_OUT, "timed_out")                                                                     \
    X(WRONG, "wrong")     /* some element is not within its gate */                               \
    X(CHEATED, "cheated") /* right where it was tried, not where it was timed; or too fast */     \
    X(CORRECT, "correct")

enum judge_status {
#define X(id, name) JUDGE_##id,
    JUDGE_STATUSES(X)
#undef X
        JUDGE_STATUS_COUNT
};

extern const char *const judge_status_name[JUDGE_STATUS_COUNT];

struct judge_time {                /* of one call, microseconds */
    double median, min, low, high; /* low, high: of the median, 95 % */
    size_t samples, calls;         /* calls in each sample, each on inputs of its own */
};

struct judge_pair {    /* against one baseline */
    const char *name;  /* "naive", or the file */
    const char *flags; /* with which it was built */
    struct judge_time time;
    double speedup, low, high; /* baseline / kernel, with its interval */
    bool same;                 /* the difference lies within the noise */
};

struct judge_case {
    const struct program *program;
    int64_t elements, unjudged; /* compared in all; not decided by the arithmetic */
    double worst;               /* the largest error, in units of what is allowed */
    bool timed;
    struct judge_time time;
    struct light light;
    double share; /* of the speed of light: light.us / time.median */
    const struct judge_pair *pairs;
    size_t pair_count;
    size_t timed_calls_checked;
};

/* The first wrong element, and what the wrong ones have in common. */
struct judge_wrong {
    const char *case_name, *tensor;
    const char *element; /* "Y[0,1008]" */
    double expected, got, allowed;
    bool unwritten;          /* it still holds the poison */
    int64_t wrong, elements; /* of that output, in the first set of inputs that showed it */
    const char *where;       /* "the last column (j = 1008) of every row; all else is right" */
    const char *kinds;       /* "all 9 kinds", "3 of 9 kinds: heavy, small, mixed" */
    enum distribution kind;  /* of the inputs that first showed it, */
    uint64_t draw_seed;      /* and their seed: task_draw() gives them again */
    const char *guess;       /* "a loop that steps by 8 and drops the rest", or NULL */
};

#define JUDGE_MOST_NOTES 12

struct judge_report {
    enum judge_status status;
    const char *reason;       /* one line without the file's name; "" if correct */
    const char *details;      /* more lines: the compiler's messages; "" */
    uint32_t line;            /* of the kernel's text; 0: none in particular */
    const char *case_name;    /* where it failed; NULL: everywhere */
    struct judge_wrong wrong; /* of WRONG and some CHEATED; tensor is NULL otherwise */
    const char *flags;        /* of the compiler, without those that every kernel gets */
    const char *compiler;
    unsigned threads;
    uint64_t seed;
    struct judge_case *cases;
    size_t case_count;
    size_t kinds;       /* of inputs */
    bool deterministic; /* the same bits twice */
    bool same_bits;     /* the same bits with one thread and with all */
    bool from_cache;    /* nothing was compiled */
    double compile_seconds, seconds;
    const char *notes[JUDGE_MOST_NOTES]; /* what else should be known; up to a NULL */
    size_t note_count;
};

/* ---- the judge ---- */

struct judge;

struct judge_options {
    bool require_sandbox; /* refuse where the box is not complete */
    struct log *log;      /* progress; NULL: none */
};

/* `options` may be NULL. STATUS_MACHINE: no box, no cache folder, no memory. */
enum status
judge_open(const struct judge_options *options, struct judge **judge, struct diags *diags);
void
judge_close(struct judge *judge); /* NULL is allowed */

/* The box itself, for who looks at kernels without judging them (profile). */
const struct box *
judge_jail(const struct judge *judge);

/* Whether short samples run before all other processes: what is timed beside them should too. */
bool
judge_goes_first(const struct judge *judge);

/* ---- a task ---- */

/*    id      name       how long it measures */
#define JUDGE_EFFORTS(X)                                       \
    X(QUICK, "quick")   /* a few rounds: to sort candidates */ \
    X(NORMAL, "normal") /* until the interval is narrow, at most about a second a case */

enum judge_effort {
#define X(id, name) JUDGE_##id,
    JUDGE_EFFORTS(X)
#undef X
        JUDGE_EFFORT_COUNT
};

extern const char *const judge_effort_name[JUDGE_EFFORT_COUNT];

/* Inputs that somebody proposes: they join the judge's own and take the place of none. What cannot
 * be read (task_pattern(), task_sizes()) is left out. */
struct judge_extra {
    const char *pattern; /* "X[i,j] = if(i == 0, 64, 0)"; "": inputs of the usual kinds */
    const char *sizes;   /* "R=1 N=17", as a case that is only checked; "": in every case */
};

struct judge_setup {
    struct lang *lang;
    const size_t *cases; /* numbers of lang's cases; NULL: all */
    size_t case_count;
    const struct target *target;
    unsigned threads; /* 0: all processors of this program */
    bool seeded;      /* `seed` is given: a verdict is to be repeated */
    uint64_t seed;    /* else drawn from the system's randomness */
    bool same_inputs; /* secret ones, drawn once for the whole task: a search's candidates */
    bool no_baseline; /* leave out `naive` */
    bool only_timed;  /* no reference: looked at and compared, never believed; the parts of a kernel
                         that is judged as a whole */
    double enough;    /* seconds: what takes longer is evaluated in some rows; 0: the usual */
    enum judge_effort effort;
    const struct judge_extra *extras;
    size_t extra_count;
};

struct judge_task;

/* Whether all of these cases can be judged here: nothing is opened. What takes long asks first. */
enum status
judge_fits(struct judge *judge, const struct judge_setup *setup, struct diags *diags);

/* Programs, references, memory. STATUS_INPUT: a case cannot be judged here; the message says how
 * much it would need and which dim to shrink. */
enum status
judge_task_open(struct judge *judge, const struct judge_setup *setup, struct judge_task **task,
                struct diags *diags);
void
judge_task_close(struct judge_task *task); /* NULL is allowed */

/* ---- a kernel ---- */

struct judge_kernel; /* its objects; belongs to the task it was built for */

/* report->status is BUILT, BUILD_FAILED or REJECTED; *kernel is NULL unless BUILT. `file` is for
 * messages. */
enum status
judge_build(struct judge_task *task, struct arena *arena, const char *file, const char *text,
            size_t length, struct judge_kernel **kernel, struct judge_report *report,
            struct diags *diags);
void
judge_kernel_close(struct judge_kernel *kernel); /* NULL is allowed */

/* Builds kernels that will be asked for, each for all cases, several at a time on all processors:
 * judge_build() then finds them built. It says nothing about them; where nothing is kept it does
 * nothing. Nothing else is measured meanwhile: it returns when all are built. */
void
judge_build_ahead(struct judge_task *task, const char *file, const char *const *texts,
                  size_t count);

/* Goes on where judge_build() stopped: report->status stays BUILT if all is right so far. `sets`:
 * how many sets of inputs of each kind (0: one). */
enum status
judge_check(struct judge_task *task, struct arena *arena, struct judge_kernel *kernel,
            unsigned sets, struct judge_report *report, struct diags *diags);

/* Times it against these baselines (built and checked before) and `naive`; the status becomes
 * CORRECT, or what the timed calls showed. */
enum status
judge_measure(struct judge_task *task, struct arena *arena, struct judge_kernel *kernel,
              struct judge_kernel *const *baselines, size_t baseline_count,
              struct judge_report *report, struct diags *diags);

/* Right on one secret set of inputs, and how fast, roughly: a search sorts its candidates by this.
 * report->status stays BUILT, for judge_check() to go on, or says what was wrong. */
enum status
judge_glance(struct judge_task *task, struct arena *arena, struct judge_kernel *kernel,
             struct judge_report *report, struct diags *diags);

/* All of it. The kernel is closed again, unless `kept` is given and it is correct: then it is the
 * caller's, to be compared with others; *kept is NULL otherwise. */
enum status
judge_verdict(struct judge_task *task, struct arena *arena, const char *file, const char *text,
              size_t length, struct judge_kernel *const *baselines, size_t baseline_count,
              struct judge_kernel **kept, struct judge_report *report, struct diags *diags);

/* About how long one call of `naive` takes in case `number`, in microseconds, for who is curious
 * before there is a verdict; 0: not known, and it would take long to find out. */
enum status
judge_naive_us(struct judge_task *task, size_t number, double *us, struct diags *diags);

/* Is the candidate faster than the incumbent, in case number `number` of the task? Of the rounds of
 * `rule` (NULL: the usual one) as many as fit into a second, at least six. Both must have been
 * checked; *failed is the one that nevertheless did something wrong here, else NULL. */
enum status
judge_compare(struct judge_task *task, struct judge_kernel *incumbent,
              struct judge_kernel *candidate, size_t number, const struct measure_rule *rule,
              struct measure_outcome *outcome, struct judge_kernel **failed, struct diags *diags);

/* ---- windows ---- */

/* A kernel in one case, whose inputs stay where they are from window to window. */
struct judge_window;

enum status
judge_window_open(struct judge_task *task, struct judge_kernel *kernel, size_t number,
                  struct judge_window **window, struct diags *diags);
void
judge_window_close(struct judge_window *window); /* NULL is allowed */

/* Sets of inputs that its calls go round. */
size_t
judge_window_sets(const struct judge_window *window);

/* Times of single calls in microseconds, in at most `most` samples and about so many seconds, at
 * least one. Its sets of inputs are gone through again and again, a little later in memory each
 * time, so that they are warm and yet new. Some samples are checked. STATUS_NO: the kernel failed.
 */
enum status
judge_window_take(struct judge_window *window, double seconds, double *us, size_t most,
                  size_t *count, struct diags *diags);

#endif
