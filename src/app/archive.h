/* What the verbs that look at the archive share: opening it, a run as a whole, and what its rows
 * say about one another. */
#ifndef HONE_APP_ARCHIVE_H
#define HONE_APP_ARCHIVE_H

#include "app/cli.h"
#include "lang/lang.h"
#include "store/store.h"

/* ---- opening ---- */

/* The archive of the settings. STATUS_NO, without a message: there is none yet. */
enum status
archive_open(struct cli *cli, enum store_access access, struct store **store);

/* The same where one is needed: STATUS_INPUT says how to get one. */
enum status
archive_need(struct cli *cli, enum store_access access, struct store **store);

/* "k7f3.18" rather than "k7f3" */
bool
archive_is_candidate(const char *name);

/* Whether a name, or the beginning of one, is that of a run, or of a benchmark. */
bool
archive_is_run(struct cli *cli, struct store *store, const char *name);
bool
archive_is_bench(struct cli *cli, struct store *store, const char *name);

/* ---- a run as a whole ---- */

struct archive_run {
    struct store_run row;
    struct store_candidate *candidates;
    size_t candidate_count;
    struct store_call *calls;
    size_t call_count;
    struct store_event *events;
    size_t event_count;
};

/* With all but the texts that STORE_BRIEF leaves out, unless they are asked for. */
enum status
archive_read_run(struct store *store, struct arena *arena, const char *name,
                 enum store_detail detail, struct archive_run *run, struct diags *diags);

/* NULL: there is none. */
const struct store_candidate *
archive_candidate(const struct archive_run *run, int64_t number);

/* Its first parent of the same run; NULL: it has none. */
const struct store_candidate *
archive_parent(const struct archive_run *run, const struct store_candidate *candidate);

const struct store_call *
archive_call(const struct archive_run *run, int64_t id);

/* "done", "stopped", "running", "killed", or what stopped it: "no credit" */
const char *
archive_state(const struct store_run *run);

/* From its beginning to its end, or to `now`. */
double
archive_seconds(const struct store_run *run, double now);

struct archive_spent {
    double seconds, tokens, cost;
};

/* What had been spent at that time: by calls, those that had ended. */
struct archive_spent
archive_spent(const struct archive_run *run, double when);

/* Its program in a case, as it was stored. NULL: it has no such case, or cannot be read again: it
 * uses other files. */
struct program *
archive_program(struct arena *arena, const struct store_run *run, const char *case_name,
                struct diags *diags);

/* ---- candidates ---- */

/* "k7f3.18" */
const char *
archive_name(struct arena *arena, const char *run, int64_t number);

/* The one that counts; NULL: it was not judged. */
const struct store_verdict *
archive_verdict(const struct store_candidate *candidate);

bool
archive_is_correct(const struct store_candidate *candidate);

/* The first case that was timed, of a correct one; NULL: there is none. */
const struct store_case *
archive_timed(const struct store_candidate *candidate);

/* The first of the run's cases, by whose times candidates are put in order. */
bool
archive_is_first_case(const struct archive_run *run, const struct store_case *timed);

/* Of that name; NULL: it has none. */
const struct store_case *
archive_case(const struct store_verdict *verdict, const char *name);

/* Its time there; NAN: it was not timed, or is not correct. */
double
archive_time(const struct store_candidate *candidate, const char *case_name);

/* The first case that both were timed in; false: there is none. */
bool
archive_common_case(const struct store_candidate *a, const struct store_candidate *b,
                    const struct store_case **of_a, const struct store_case **of_b);

/* How many times `than` needs the time of `candidate`, over the cases that both were timed in
 * (geometric mean); NAN: there is none. */
double
archive_gain(const struct store_candidate *candidate, const struct store_candidate *than);

/* By how much something is faster or slower: "6 %" that the slower one needs more, or "2.1x". */
const char *
archive_share_text(struct arena *arena, double gain);

/* A schedule of the builtin search in one case, without any role: there are many of them. */
bool
archive_is_draft(const struct archive_run *run, const struct store_candidate *candidate);

/* A kernel of a part of a network, which was tuned alone: no kernel of the task. `phase` names the
 * part. */
bool
archive_is_layer(const struct store_candidate *candidate);

/* "coder"; without a role who proposed it, or "file" */
const char *
archive_who(const struct store_candidate *candidate);

/* The last line of a schedule: what the kernel mostly is; "" without. */
const char *
archive_main_line(struct arena *arena, const char *schedule);

/* It was taken as a base to go on from. */
bool
archive_is_accepted(const struct store_candidate *candidate);

/* What the best is compared with: its first ancestor; where that is the best itself, or a schedule,
 * the first correct one that was tried there. */
const struct store_candidate *
archive_start(const struct archive_run *run, const struct store_candidate *best);

/* "compute": "arithmetic"; "L3": "the bandwidth of L3" */
const char *
archive_limit_words(struct arena *arena, const char *limit);

/* "evals": "the evaluations were used up" */
const char *
archive_ending_words(const char *stopped_by);

/* What the search said of it; only what was given in the end is "best". */
const char *
archive_decision(const struct archive_run *run, const struct store_candidate *candidate);

/* ---- what is stored as JSON ---- */

struct archive_facts { /* of the first case that was timed; NAN and NULL: not known */
    double light_us;
    const char *limit;    /* "compute", "memory", "exp" */
    const char *baseline; /* "naive", */
    const char *baseline_flags;
    double baseline_us; /* and how long it needs */
    const char *details;
};

struct archive_facts
archive_facts(struct arena *arena, const struct store_verdict *verdict);

struct archive_machine {
    double threads, vector_bits; /* NAN: not known */
};

struct archive_machine
archive_machine(const struct store_run *run);

/* A paired comparison that the run made. */
struct archive_comparison {
    double gain;      /* champion's time / challenger's */
    double low, high; /* of the gain; NAN: not stored */
    bool same;        /* inside the noise */
};

/* False: there is none between these two. */
bool
archive_comparison(const struct archive_run *run, const struct store_candidate *champion,
                   const struct store_candidate *challenger, struct archive_comparison *comparison);

/* Figures of a stored profile in words: "loads_per_fma 1.1, spills 0"; NULL: there is none. */
const char *
archive_profile(struct arena *arena, const struct archive_run *run,
                const struct store_candidate *candidate);

/* The stored comparison (true), else what their times say, each measured alone. */
bool
archive_pair(const struct archive_run *run, const struct store_candidate *candidate,
             const struct store_candidate *than, struct archive_comparison *pair);

/* "6 % faster than NAME [5.1, 6.8]", "4 % slower than NAME" without a comparison, "the same as
 * NAME"; NULL: nothing is known of the two. */
const char *
archive_against(struct arena *arena, const struct archive_run *run,
                const struct store_candidate *candidate, const struct store_candidate *than,
                const char *name);

/* "expected 5 to 12 %, got 6 %"; "": nothing was expected. */
const char *
archive_expected(struct arena *arena, const struct archive_run *run,
                 const struct store_candidate *candidate, const struct store_candidate *parent);

#endif
