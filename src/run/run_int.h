/* What the files of the loop share. */
#ifndef HONE_RUN_RUN_INT_H
#define HONE_RUN_RUN_INT_H

#include "run/ledger_int.h"

#include <math.h>

struct loop { /* of all cases */
    struct arena *arena;
    const struct run_judge *judge;
    const struct run_options *options;
    struct run_result *result;
    struct diags *diags;
    struct ledger *ledger;
    unsigned
        begun_evaluations; /* limits that the run was begun with: shares are parts of these, so */
    double begun_seconds;  /* that who goes on with others takes the same steps up to here */
    double kept_back;      /* of the time: for the last judgement, whatever it takes */
    double last_seconds;   /* what opening and one kernel of each case took */
    size_t most_tried;     /* candidates of a case: what there is room for */
    const char *general;   /* C for every size, of tasks with `dim any`; else NULL */
    bool is_part;          /* of a program that was cut: what it finds serves no case of the run */
    struct judge_extra *extras; /* inputs that testers proposed: part of every verdict */
    size_t extra_count;
    unsigned seeds; /* of the archive, bits 1 << enum recipe_seed: what searches begin with */
};

static inline double
run__elapsed(const struct loop *loop)
{
    return loop->ledger->seconds;
}

/* What the last judgement will need beyond what is kept back anyway: long kernels, many stages or a
 * slow reference make it long too, and it has several times as many sets of inputs, and `naive`. */
static inline double
run__needed_later(const struct loop *loop)
{
    const double times = 7, part = 0.75;
    double most = part * (loop->options->seconds + loop->kept_back), opened = 0;
    for (size_t i = 0; i < loop->result->case_count; i++)
        opened += loop->result->cases[i].tried_count > 0;
    double all = loop->last_seconds * (double)loop->result->case_count / fmax(opened, 1);
    return fmax(fmin(times * all, most) - loop->kept_back, 0);
}

/* When a search has to end that began then and may last until then: it gives its part of what is
 * needed later. */
static inline double
run__until(const struct loop *loop, double began, double until)
{
    double left = loop->options->seconds - began;
    return left > 0 ? began + (until - began) * fmax(1 - run__needed_later(loop) / left, 0) : until;
}

static inline bool
run__is_stopped(const struct loop *loop)
{
    bool stopped = loop->options->stop != NULL && *loop->options->stop;
    loop->ledger->off = loop->ledger->off || stopped;
    return stopped;
}

/* Nothing more may be judged, or no time is left for it. */
static inline bool
run__is_spent(const struct loop *loop)
{
    const struct run_options *options = loop->options;
    return loop->result->evaluations >= options->evaluations ||
           (options->seconds > 0 && run__elapsed(loop) >= options->seconds);
}

/* What the judge is asked of so many cases, as searches ask it: quickly, beside nothing. */
static inline struct judge_setup
run__setup(const struct loop *loop, const size_t *cases, size_t count)
{
    return (struct judge_setup){.lang = loop->options->lang,
                                .cases = cases,
                                .case_count = count,
                                .target = loop->options->target,
                                .threads = loop->options->threads,
                                .no_baseline = true,
                                .effort = JUDGE_QUICK};
}

/* A verdict is on everything that is known to break kernels of the task. */
static inline struct judge_setup
run__setup_verdict(const struct loop *loop, const size_t *cases, size_t count)
{
    struct judge_setup setup = run__setup(loop, cases, count);
    setup.extras = loop->extras;
    setup.extra_count = loop->extra_count;
    return setup;
}

/* ---- one case (tune.c) ---- */

/* Its share of the budget. */
struct share {
    unsigned evaluations;
    double until; /* seconds since the loop began; 0: no limit */
};

/* Fills in the case of this number; *why says what ended it. */
enum status
run__tune(struct loop *loop, size_t number, const struct share *share, const char **why);

struct schedule *
run__schedule(const struct loop *loop, const struct run_case *of, const char *text);

/* The programs of the cases, with room for their candidates (optimize.c). */
enum status
run__open_cases(struct loop *loop);

/* A loop over a part of the program, before the same judge, by the same clock (optimize.c). */
struct loop
run__part(const struct loop *loop, const struct run_options *options, struct run_result *result);

/* All cases one after the other, each with its share of so many evaluations and seconds (0: no
 * limit), counted from the beginning of the run (optimize.c). */
enum status
run__tune_cases(struct loop *loop, unsigned evaluations, double seconds);

/* ---- the plain C (plain.c) ---- */

#define RUN__PLAIN_TITLE "the plain C of the operator: no schedule was faster"

/* Cases in which the last verdict found the plain C faster have it as their best; *taken: some. */
enum status
run__take_plain(struct loop *loop, bool *taken);

/* ---- layers (layers.c) ---- */

/* Whether a case's program is so large that they are worth it. */
bool
run__has_layers(const struct run_case *of, struct coder_space *space);

/* Those of a case's program, each tuned alone with some of this share, which is what is left of it
 * then; *genome has what was found. STATUS_NO: nothing was. */
enum status
run__tune_layers(struct loop *loop, const struct run_case *of, struct coder_space *space,
                 struct share *share, struct coder_genome *genome);

/* ---- what the archive has for a search to begin with (seed.c) ---- */

/* Schedules of these kinds, the most alike first, for run__next_seed(); `key`: who asks. */
enum status
run__seeds(struct loop *loop, const struct program *program, unsigned seeds, const char *key,
           const char **found);

/* The next one; only where there is one left: **found is not 0. */
const char *
run__next_seed(struct arena *arena, const char **found);

/* ---- a recipe at work (team.c) ---- */

enum status
run__team(struct loop *loop);

/* ---- what is known of the machine (facts.c), through the ledger ---- */

/* Schedules are chosen by the machine that the run began on. */
enum status
run__read_machine(struct loop *loop, struct coder_machine *machine);

/* How much it may do: fills in begun_evaluations and begun_seconds. */
enum status
run__read_limits(struct loop *loop);

/* The speed of light of every case. */
enum status
run__read_lights(struct loop *loop);

/* Inputs that broke kernels of this task before (tester.c). */
enum status
run__read_inputs(struct loop *loop);

/* ---- texts (file.c) ---- */

/* A kernel for every size, of programs with `dim any`; NULL of others. */
const char *
run__general(struct arena *arena, const struct program *program);

/* The kernel of a case as the judge is given it. Ours serves the sizes of its case alone: others
 * that `any` lets the judge draw are served by loop->general. */
const char *
run__judged_text(const struct loop *loop, const struct run_case *of, const char *kernel, bool ours);

/* Kernels of all cases as one text for the judge. */
const char *
run__joined(const struct loop *loop, const char *const *parts);

/* One file for all cases: each case's kernel where its sizes are set, and a main of its own under
 * HONE_MAIN. */
const char *
run__file(const struct loop *loop);

/* "const float *restrict in0, float *restrict out0)", and "in0, out0);" with other names for the
 * outputs. */
void
run__put_parameters(struct buf *buf, const struct program *program);
void
run__put_arguments(struct buf *buf, const struct program *program, const char *outputs);

/* ---- the archive (record.c): nothing is done where there is none ---- */

/* A candidate of one case and what was found; fills in its id. */
enum status
run__record(struct loop *loop, const struct run_case *of, struct run_candidate *candidate,
            const struct judge_report *report);

/* On a candidate of several cases. */
enum status
run__record_verdict(struct loop *loop, const struct store_candidate *row,
                    const struct judge_report *report);

/* A later verdict on one that is there. */
enum status
run__record_again(struct loop *loop, const struct run_candidate *candidate,
                  const struct judge_report *report);

/* The file with its verdict on all cases; fills in result->number. */
enum status
run__record_file(struct loop *loop);

#endif
