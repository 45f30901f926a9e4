/* store: the archive, one SQLite file with every task, run, candidate and verdict.
 *
 *   store_open            several processes at once may have the same file open
 *   store_run_begin       a run gets its name (`k7f3`) and belongs to this process
 *   store_candidate_add   a proposal gets its number (`k7f3.18`)
 *   store_verdict_add     what the judge found
 *   store_run_finish      done or stopped
 *   store_runs ...        what happened so far
 *   store_earlier         schedules that served the same program at other sizes
 *   store_verdict_find    was exactly this judged before: nothing is measured twice
 *
 * Each adding call is one transaction: when it returns STATUS_OK, what was added survives kill -9
 * and a power failure; otherwise nothing of it was added. A run whose process is gone is `stopped`,
 * whatever it last said itself. No clock is read: times are the caller's, seconds since 1970.
 *
 * STATUS_INPUT: the file is no archive, or no run has that name. STATUS_MACHINE: disk full,
 * damaged, locked for too long, made by a newer hone. Both with a message. STATUS_NO, without one:
 * there is nothing to find.
 *
 * Ownership: a store belongs to one thread at a time, and to the process that opened it: never to
 * its children. What is read lives in the caller's arena. Texts that are given may be NULL (""),
 * texts that are read never are, but for those that STORE_BRIEF leaves out. doc/archive.md has the
 * tables.
 */
#ifndef HONE_STORE_STORE_H
#define HONE_STORE_STORE_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/status.h"

struct store;

enum store_access {
    STORE_WRITE, /* the file is made if it is missing */
    STORE_READ,  /* a missing file is STATUS_NO */
};

struct store_options {
    enum store_access access;
    const char *program; /* "hone 0.1": named where a later schema is refused */
    double now;          /* when a schema was made */
    double patience;     /* seconds to wait for another process; 0: 10 */
};

/* $HONE_ARCHIVE, else archive.db in $XDG_DATA_HOME/hone or ~/.local/share/hone (which is made) or,
 * without a home, /tmp/hone-UID; NULL if the folder cannot be made. */
const char *
store_default_path(struct arena *arena);

enum status
store_open(const char *path, const struct store_options *options, struct store **store,
           struct diags *diags);

/* Runs that were not finished are stopped by it: NULL is allowed. */
void
store_close(struct store *store);

/* ---- what is kept ---- */

struct store_task {
    const char *hash;      /* of the canonical text */
    const char *family;    /* the caller's: equal for programs whose schedules suit one another */
    const char *name;      /* the author's */
    const char *canonical; /* text */
    const char *source;    /* text of the file */
};

/*    id       name */
#define STORE_STATES(X)   \
    X(RUNNING, "running") \
    X(DONE, "done")       \
    X(STOPPED, "stopped")

enum store_state {
#define X(id, name) STORE_##id,
    STORE_STATES(X)
#undef X
        STORE_STATE_COUNT
};

extern const char *const store_state_name[STORE_STATE_COUNT];

#define STORE_NAME 16 /* bytes of a run's name, with the zero */

struct store_run {
    int64_t id;            /* given by store_run_begin(), */
    char name[STORE_NAME]; /* and so is its name */
    struct store_task task;
    const char *target, *recipe, *model;
    const char *cases;       /* names and sizes; equal texts: runs that can be compared */
    const char *budget;      /* text or JSON, the caller's, */
    const char *machine;     /* and so are the facts of the machine */
    const char *machine_key; /* equal: times can be compared (processor, threads, compiler) */
    uint64_t seed;
    double started;
    /* Read only. */
    enum store_state state;
    const char *stopped_by; /* "evals", "you"; "killed": its process was gone */
    double ended;           /* of a killed one: its last sign of life; NAN while it runs */
    int64_t pid;            /* of the process that has or had it */
    int64_t best;           /* number of the candidate that was given; -1: none was named */
    int64_t candidates, verdicts;
};

struct store_speedup {
    const char *baseline;
    double factor; /* baseline's time / kernel's time */
};

struct store_case { /* figures that are not known are NAN */
    const char *name;
    const char *sizes; /* "R=64 N=32768", dims by the names that a kernel sees */
    double median_us, min_us, low_us, high_us;
    double light;           /* share of the speed of light */
    double error_over_gate; /* the largest error, in units of what is allowed */
    const struct store_speedup *speedups;
    size_t speedup_count;
};

struct store_verdict {
    int64_t id;         /* given by store_verdict_add() */
    const char *status; /* as the judge says it; `correct` alone may be best */
    const char *reason;
    const char *json; /* all of it */
    bool whole;       /* all cases of the run: only such a verdict makes a candidate the best */
    double time_us;   /* what the run minimises; 0: the geometric mean of the cases' medians */
    double judged;    /* when */
    const struct store_case *cases; /* none: it holds for every case (it was never built) */
    size_t case_count;
};

/*    id        name */
#define STORE_KINDS(X)      \
    X(SCHEDULE, "schedule") \
    X(SOURCE, "source")

enum store_kind {
#define X(id, name) STORE_##id,
    STORE_KINDS(X)
#undef X
        STORE_KIND_COUNT
};

extern const char *const store_kind_name[STORE_KIND_COUNT];

struct store_parent {
    int64_t candidate; /* its id; may be of another run */
    char run[STORE_NAME];
    int64_t number; /* run and number are read only */
};

struct store_candidate {
    int64_t id, run; /* id and number are given by store_candidate_add() */
    int64_t number;  /* within the run, from 0 */
    enum store_kind kind;
    const char *proposer, *phase, *role, *why;
    const char *schedule;
    const char *kernel; /* any bytes */
    size_t kernel_length;
    double added; /* when */
    const struct store_parent *parents;
    size_t parent_count;
    /* Read only; the hash is filled in by store_candidate_add() too. */
    char kernel_hash[HASH_TEXT];          /* SHA-256 of the kernel */
    const struct store_verdict *verdicts; /* oldest first: the last one counts */
    size_t verdict_count;
};

/* ---- adding ---- */

/* Fills in id and name. The run is this store's until store_run_finish() or store_close(). */
enum status
store_run_begin(struct store *store, struct store_run *run, struct diags *diags);

/* A run that is not running runs again, in this process. STATUS_MACHINE: another one has it. */
enum status
store_run_resume(struct store *store, int64_t run, struct diags *diags);

/* `state` is DONE or STOPPED; `best` is the number of the candidate that was given, -1 if none was
 * chosen: then it is the fastest correct one. */
enum status
store_run_finish(struct store *store, int64_t run, enum store_state state, const char *stopped_by,
                 int64_t best, double ended, struct diags *diags);

/* Also to a run of another process. */
enum status
store_candidate_add(struct store *store, struct store_candidate *candidate, struct diags *diags);

/* A candidate may be judged again. */
enum status
store_verdict_add(struct store *store, int64_t candidate, struct store_verdict *verdict,
                  struct diags *diags);

/* ---- reading ---- */

struct store_totals {
    int64_t runs, candidates, bytes;
};

enum status
store_totals(struct store *store, struct store_totals *totals, struct diags *diags);

/* The newest first, at most `most` of them (0: all). */
enum status
store_runs(struct store *store, struct arena *arena, size_t most, struct store_run **runs,
           size_t *count, struct diags *diags);

/* A name, a prefix that only one run has, `last` (begun last), or `best` (the fastest of the runs
 * that can be compared with the last one). */
enum status
store_run_find(struct store *store, struct arena *arena, const char *name, struct store_run *run,
               struct diags *diags);

enum store_detail {
    STORE_BRIEF, /* kernel and json are left out: NULL */
    STORE_WHOLE,
};

/* Of a run, by number. */
enum status
store_candidates(struct store *store, struct arena *arena, int64_t run, enum store_detail detail,
                 struct store_candidate **candidates, size_t *count, struct diags *diags);

/* "k7f3.18"; the run as in store_run_find(), the number may be `last` or `best`, which is also
 * meant where there is none: "k7f3". */
enum status
store_candidate_find(struct store *store, struct arena *arena, const char *name,
                     struct store_candidate *candidate, struct diags *diags);

/* The one that store_run_finish() named; else the fastest whose last verdict is whole and correct.
 * STATUS_NO: there is none. */
enum status
store_best(struct store *store, struct arena *arena, int64_t run, enum store_detail detail,
           struct store_candidate *candidate, struct diags *diags);

/* ---- what is known already ---- */

struct store_question {
    const char *family, *target, *machine_key;
    size_t each; /* schedules for each program and sizes; 0: 1 */
    size_t most; /* in all; 0: no limit */
};

struct store_answer {
    const char *schedule;
    const char *task_hash, *task_name, *case_name, *sizes;
    double time_us, light;
    char run[STORE_NAME];
    int64_t number;
};

/* Correct ones, those nearest to the speed of light first. */
enum status
store_earlier(struct store *store, struct arena *arena, const struct store_question *question,
              struct store_answer **answers, size_t *count, struct diags *diags);

struct store_key {
    const char *kernel_hash, *task_hash, *target, *sizes, *machine_key;
};

/* The newest verdict on this kernel in a case of these sizes, and whose it is. STATUS_NO: there
 * is none. */
enum status
store_verdict_find(struct store *store, struct arena *arena, const struct store_key *key,
                   struct store_candidate *candidate, struct store_verdict *verdict,
                   struct diags *diags);

#endif
