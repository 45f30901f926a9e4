/* store: the archive, one SQLite file with every task, run, candidate, verdict, prompt and reply.
 *
 *   store_open            several processes at once may have the same file open
 *   store_run_begin       a run gets its name (`k7f3`) and belongs to this process
 *   store_call_begin      a prompt, before it is sent; store_call_end() its reply, before it is
 * used store_candidate_add   a proposal gets its number (`k7f3.18`) store_verdict_add     what the
 * judge found store_event_add       whatever else the world answered, for resume and replay
 *   store_inbox_add       what a person says to a run, from any process
 *   store_run_finish      done or stopped
 *   store_runs ...        what happened so far
 *   store_earlier         schedules that served programs of the same family
 *   store_verdict_find    was exactly this judged before: nothing is measured twice
 *   store_item_put        what was learned, for later runs; store_items_similar() finds it
 *   store_vectors_put     vectors of texts, by which similar items are found too
 *   store_search          candidates by words of their code and rationale
 *   store_bench_begin     a benchmark and its plan: the tasks that it is going to measure
 *   store_bench_task_end  what came of one of them; those without an end are still to be done
 *
 * Each adding call is one transaction: when it returns STATUS_OK, what was added survives kill -9;
 * otherwise nothing of it was added. What cost money, time or a person's words survives a power
 * failure too, with all that was added before it: replies, verdicts, notes, the beginning and the
 * end of a run. Events, candidates, decisions, items and the beginning of a call do so once such a
 * one was added after them: a run that goes on makes them again. A run whose process is gone is
 * `stopped`, whatever it last said itself. No clock is read: times are the caller's, seconds since
 * 1970.
 *
 * STATUS_INPUT: the file is no archive, no run has that name, a row refers to what is not there.
 * STATUS_MACHINE: disk full, damaged, locked for too long, made by a newer hone. Both with a
 * message. STATUS_NO, without one: there is nothing to find.
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

struct store_totals {
    int64_t runs, candidates, calls, items, bytes;
};

enum status
store_totals(struct store *store, struct store_totals *totals, struct diags *diags);

enum store_detail {
    STORE_BRIEF, /* texts marked `whole` are left out: NULL */
    STORE_WHOLE,
};

/* ---- runs ---- */

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

struct store_tokens {
    double input, cached, written, output, reasoned; /* input has cached and written in it */
};

struct store_run {
    int64_t id;            /* given by store_run_begin(), */
    char name[STORE_NAME]; /* and so is its name */
    struct store_task task;
    const char *target, *recipe, *model;
    const char *recipe_text; /* the recipe's file, as it was read */
    const char *options;     /* JSON, the caller's: with this, resume needs nothing else */
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
    double seen;            /* when something was last added to it */
    int64_t pid;            /* of the process that has or had it */
    int64_t best;           /* number of the candidate that was given; -1: none was named */
    int64_t leader;         /* the one that was given, else the fastest so far; -1: none */
    double best_us;         /* its time, as the run minimises it; NAN: there is no leader */
    double case_us, light;  /* of its first case that was timed, as screens show it, */
    double gain;            /* and against that case's first baseline; NAN: there is none */
    int64_t candidates, verdicts;
    int64_t evaluations; /* candidates that were judged, once or again */
    int64_t calls;       /* begun */
    struct store_tokens tokens;
    double cost;   /* USD, of the calls that have a price; NAN: none has */
    int64_t hints; /* of its inbox that were not taken yet */
};

/* Fills in id and name. The run is this store's until store_run_finish() or store_close(). */
enum status
store_run_begin(struct store *store, struct store_run *run, struct diags *diags);

/* A run that is not running runs again, in this process. STATUS_MACHINE: another one has it. */
enum status
store_run_resume(struct store *store, int64_t run, struct diags *diags);

struct store_run_change { /* NULL: stays as it is */
    const char *recipe, *recipe_text, *model, *options, *budget;
};

/* What a run is about to do differently: resume with more time, another model. */
enum status
store_run_change(struct store *store, int64_t run, const struct store_run_change *change,
                 struct diags *diags);

/* `state` is DONE or STOPPED; `best` is the number of the candidate that was given, -1 if none was
 * chosen: then it is the fastest correct one. */
enum status
store_run_finish(struct store *store, int64_t run, enum store_state state, const char *stopped_by,
                 int64_t best, double ended, struct diags *diags);

/* The newest first, at most `most` of them (0: all). */
enum status
store_runs(struct store *store, struct arena *arena, size_t most, struct store_run **runs,
           size_t *count, struct diags *diags);

/* A name, a prefix that only one run has, `last` (begun last), or `best` (the fastest of the runs
 * that can be compared with the last one). */
enum status
store_run_find(struct store *store, struct arena *arena, const char *name, struct store_run *run,
               struct diags *diags);

/* ---- benchmarks ---- */

struct store_bench {
    int64_t id;            /* given by store_bench_begin(), */
    char name[STORE_NAME]; /* and so is its name: no run has it */
    const char *title;     /* the suites */
    const char *against;   /* names of baselines, separated by commas; the first one counts */
    const char *recipes;   /* separated by commas */
    const char *model;
    const char *options; /* JSON, the caller's: with this, going on needs nothing else */
    const char *machine, *machine_key; /* as of a run */
    double started;
    /* Read only. */
    enum store_state state;
    const char *stopped_by;
    double seen, ended; /* as of a run */
    int64_t pid, tasks, finished;
};

struct store_baseline {
    const char *name;  /* "naive", "torch", "torch.eager" */
    const char *build; /* how it was built; of "torch" the best; where there is no time: why not */
    double time_us, low_us, high_us;
    double speedup, speedup_low, speedup_high; /* its time / the kernel's, with the interval */
};

/* A task under a recipe; figures that are not known are NAN. */
struct store_bench_task {
    int64_t bench, place; /* given by store_bench_begin() */
    const char *suite;    /* "" for a file that is of none */
    int64_t number;       /* in its suite; else its place among the files */
    const char *name, *path;
    const char *marks; /* of the suite's list, separated by blanks */
    const char *recipe;
    /* Given to store_bench_task_end(). */
    const char *status; /* as the judge says it, or "broken"; "": it was not done yet */
    const char *reason, *run;
    double time_us, low_us, high_us;
    double light, light_us; /* share of the speed of light; that itself */
    const char *limited;    /* by what */
    int64_t evaluations;
    double seconds, ended;
    const struct store_baseline *baselines;
    size_t baseline_count;
};

/* Fills in id and name, and bench and place of the tasks. It is this store's until
 * store_bench_finish() or store_close(). */
enum status
store_bench_begin(struct store *store, struct store_bench *bench, struct store_bench_task *tasks,
                  size_t count, struct diags *diags);

/* As store_run_resume(). */
enum status
store_bench_resume(struct store *store, int64_t bench, struct diags *diags);

/* `state` is DONE or STOPPED. */
enum status
store_bench_finish(struct store *store, int64_t bench, enum store_state state,
                   const char *stopped_by, double ended, struct diags *diags);

/* Also to a benchmark of another process: whoever measures need not be who began. */
enum status
store_bench_task_end(struct store *store, const struct store_bench_task *task, struct diags *diags);

/* The newest first, at most `most` of them (0: all). */
enum status
store_benches(struct store *store, struct arena *arena, size_t most, struct store_bench **benches,
              size_t *count, struct diags *diags);

/* A name, a prefix that only one has, or `last`. */
enum status
store_bench_find(struct store *store, struct arena *arena, const char *name,
                 struct store_bench *bench, struct diags *diags);

/* Of a benchmark, by place. */
enum status
store_bench_tasks(struct store *store, struct arena *arena, int64_t bench,
                  struct store_bench_task **tasks, size_t *count, struct diags *diags);

/* ---- verdicts ---- */

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
    const char *json; /* all of it (whole) */
    bool whole;       /* all cases of the run: only such a verdict makes a candidate the best */
    double time_us;   /* what the run minimises; 0: the geometric mean of the cases' medians */
    double judged;    /* when */
    const struct store_case *cases; /* none: it holds for every case (it was never built) */
    size_t case_count;
};

/* A candidate may be judged again. */
enum status
store_verdict_add(struct store *store, int64_t candidate, struct store_verdict *verdict,
                  struct diags *diags);

/* ---- candidates ---- */

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
    const char *kernel; /* any bytes (whole) */
    size_t kernel_length;
    double added;                       /* when */
    double expected_low, expected_high; /* gain, 1.05; NAN or 0: nothing was expected */
    int64_t call;                       /* id of the call that proposed it; 0: none */
    int64_t lane, round;                /* the recipe's */
    const char *accepted;               /* as store_candidate_decide() says */
    const struct store_parent *parents;
    size_t parent_count;
    /* Read only; the hash is filled in by store_candidate_add() too. */
    char kernel_hash[HASH_TEXT];          /* SHA-256 of the kernel */
    const struct store_verdict *verdicts; /* oldest first: the last one counts */
    size_t verdict_count;
};

/* Also to a run of another process. */
enum status
store_candidate_add(struct store *store, struct store_candidate *candidate, struct diags *diags);

/* What the search made of it: "accepted", "slower", "same", "dropped"; the last word counts. */
enum status
store_candidate_decide(struct store *store, int64_t candidate, const char *decision,
                       struct diags *diags);

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

/* ---- calls of models ---- */

struct store_call {
    int64_t id, run; /* id and ordinal are given by store_call_begin() */
    int64_t ordinal; /* within the run, from 0 */
    const char *phase, *role, *label;
    const char *model, *provider, *wire;
    const char *request_hash;
    const char *system, *prompt; /* the whole request, as text or JSON (whole) */
    double begun;
    /* Given to store_call_end(). */
    const char *reply, *reasoning; /* (whole) */
    const char *outcome, *finish;  /* as the client says it */
    const char *served;            /* the model that the server says it was */
    const char *message;           /* why it failed */
    struct store_tokens tokens;
    bool estimated; /* the server did not count */
    double cost;    /* USD; NAN: the model has no price */
    double first_ms, total_ms;
    double ended; /* NAN: it has no end; unless its run is running, its process died meanwhile */
};

/* Before it is sent. Fills in id and ordinal. */
enum status
store_call_begin(struct store *store, struct store_call *call, struct diags *diags);

/* Before its reply is acted on: the call of `id`, which must not have ended. */
enum status
store_call_end(struct store *store, const struct store_call *call, struct diags *diags);

/* Of a run, in the order of their beginnings. */
enum status
store_calls(struct store *store, struct arena *arena, int64_t run, enum store_detail detail,
            struct store_call **calls, size_t *count, struct diags *diags);

/* The whole of one. STATUS_NO: there is none. */
enum status
store_call_get(struct store *store, struct arena *arena, int64_t id, struct store_call *call,
               struct diags *diags);

/* The nth (from 0) of the run's ended calls with this request: for replay. STATUS_NO: there are
 * not so many. */
enum status
store_call_find(struct store *store, struct arena *arena, int64_t run, const char *request_hash,
                size_t nth, struct store_call *call, struct diags *diags);

/* ---- events ---- */

/* What the world answered, so that a run can go the same way again without asking. */
struct store_event {
    int64_t run;
    int64_t seq; /* within the run, from 0; given by store_event_add() */
    const char *kind, *key, *answer;
    double seconds; /* since the run began */
};

/* Small and cheap: there may be thousands. */
enum status
store_event_add(struct store *store, struct store_event *event, struct diags *diags);

/* Those of a run from `seq` on, at most `most` of them (0: all). */
enum status
store_events(struct store *store, struct arena *arena, int64_t run, int64_t seq, size_t most,
             struct store_event **events, size_t *count, struct diags *diags);

/* ---- what people say ---- */

struct store_note {
    int64_t run;
    int64_t seq;      /* within the run, from 0; given by store_inbox_add() */
    const char *kind; /* "say", "add" */
    const char *text; /* words, or the content of the file */
    const char *file; /* its name */
    double written;
    double taken; /* NAN: not yet; read only */
};

/* Also to a run of another process. */
enum status
store_inbox_add(struct store *store, struct store_note *note, struct diags *diags);

/* All that were not taken yet, in order; from now on they are. */
enum status
store_inbox_take(struct store *store, struct arena *arena, int64_t run, double now,
                 struct store_note **notes, size_t *count, struct diags *diags);

/* All of a run, taken or not. */
enum status
store_inbox(struct store *store, struct arena *arena, int64_t run, struct store_note **notes,
            size_t *count, struct diags *diags);

/* ---- memory ---- */

struct store_stats {
    int64_t uses, wins;
    double gain, predicted, actual, q; /* NAN: not known */
};

struct store_item {
    int64_t id;           /* given by store_item_put() */
    const char *kind;     /* "insights", "traps", "skills" */
    const char *key;      /* the caller's: a predicate, a bottleneck, the two ends of an edge */
    const char *text;     /* what was learned */
    const char *json;     /* whatever else belongs to the kind */
    const char *family;   /* of the task, */
    const char *features; /* and words that describe it: "contraction f32 threads:2" */
    int64_t run;          /* that learned it; 0: none */
    double written;
    struct store_stats stats; /* of a new one, as given */
    double score;             /* read only: of store_items_similar() */
};

/* One with the same kind, key and text is brought up to date (json, family, features, run, written)
 * and its figures change as in store_item_update(); *item then has its id and those figures. */
enum status
store_item_put(struct store *store, struct store_item *item, struct diags *diags);

/* The same together with the event that says that it was learned: both or neither. */
enum status
store_item_learn(struct store *store, struct store_item *item, struct store_event *event,
                 struct diags *diags);

/* Uses and wins are added to what is there; the others replace it, unless they are NAN. */
enum status
store_item_update(struct store *store, int64_t item, const struct store_stats *change,
                  struct diags *diags);

/* Of a kind, those whose key begins so (NULL: all), the newest first, at most `most` (0: all). */
enum status
store_items(struct store *store, struct arena *arena, const char *kind, const char *key_prefix,
            size_t most, struct store_item **items, size_t *count, struct diags *diags);

struct store_likeness {
    const char *text;     /* any words: a program, a diagnosis */
    const char *features; /* separated by blanks */
    const char *kinds;    /* separated by blanks; NULL: all */
    const char *meaning;  /* a text whose vector is compared with theirs; NULL: none is */
    const char *model;    /* that gives those vectors */
    size_t most;          /* 0: 10 */
};

/* Those whose words (bm25), features (overlap, rare ones count more) and vectors (cosine) are most
 * like it, merged by reciprocal rank, the best first. */
enum status
store_items_similar(struct store *store, struct arena *arena, const struct store_likeness *likeness,
                    struct store_item **items, size_t *count, struct diags *diags);

/* ---- vectors of texts, as a model gives them ---- */

struct store_vector {
    const char *text;     /* known again by its hash */
    const float *numbers; /* of length 1 */
    size_t size;
};

/* What a likeness is compared by: its meaning and the texts of the newest items of its kinds, as
 * far as they have no vector of its model yet; at most `most`, each once. */
enum status
store_vectors_missing(struct store *store, struct arena *arena,
                      const struct store_likeness *likeness, size_t most, const char ***texts,
                      size_t *count, struct diags *diags);

/* Together with the end of the call that gave them, which may be NULL: both or neither. */
enum status
store_vectors_put(struct store *store, const char *model, const struct store_vector *vectors,
                  size_t count, const struct store_call *call, struct diags *diags);

/* ---- what is known already ---- */

struct store_question {
    const char *family, *target, *machine_key;
    const char *task_hash; /* NULL, or of the task: what older programs wrote down as its family */
    size_t each;           /* schedules for each program and sizes; 0: 1 */
    size_t most;           /* in all; 0: no limit */
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

struct store_hit {
    int64_t candidate;
    char run[STORE_NAME];
    int64_t number;
    enum store_kind kind;
    const char *task_name, *why, *schedule;
    const char *status; /* of its last verdict; "": it was not judged */
    double time_us, light;
};

/* Candidates that have these words in their code, schedule or rationale, those that fit best first,
 * at most `most` (0: 10). The code of a schedule is not searched: it follows from it. */
enum status
store_search(struct store *store, struct arena *arena, const char *words, size_t most,
             struct store_hit **hits, size_t *count, struct diags *diags);

#endif
