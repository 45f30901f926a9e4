/* One case: candidates from the start, from memory and from the search, until it is enough. */
#include "run/run_int.h"

#include "base/hash.h"
#include "base/rng.h"
#include "search/search.h"

#include <math.h>
#include <string.h>

enum {
    DRAFTED = 64,   /* schedules that the model looks at, */
    DRAFTS = 5,     /* and how many of them are tried */
    DRAFTABLE = 24, /* stages: of larger programs a look costs too much */
};

struct tuning {
    struct loop *loop;
    struct run_case *to;
    size_t number;      /* among the cases */
    struct share share; /* what is left of it when the whole is tuned */
    struct judge_task *task;
    struct judge_kernel *champion;
    struct coder_space *space;
    struct search *search;
    char (*seen)[HASH_TEXT]; /* of kernels */
    double *history;
    double naive_us; /* 0: not known */
    double shown_us; /* the same, about, for the screen; -1: nobody has asked */
    double began;    /* seconds since the loop did */
};

/* A kernel that is to be judged. */
struct proposal {
    const char *proposer;
    const char *schedule; /* NULL: somebody wrote it */
    const char *kernel;
    char hash[HASH_TEXT]; /* of it */
};

/* A point of the search and what it became. */
struct drawn {
    struct search_point point;
    struct search_hole *holes;
    size_t hole_count;
    struct proposal proposal;
};

static double
best_us(const struct run_case *of)
{
    return of->best ? of->best->us : INFINITY;
}

/* ---- a candidate ---- */

/* Two texts that become the same kernel are one candidate. */
static bool
is_new(const struct tuning *tuning, struct proposal *proposal)
{
    hash_sha256(proposal->kernel, strlen(proposal->kernel), proposal->hash);
    for (size_t i = 0; i < tuning->to->tried_count; i++)
        if (strcmp(tuning->seen[i], proposal->hash) == 0)
            return false;
    return true;
}

struct schedule *
run__schedule(const struct loop *loop, const struct run_case *of, const char *text)
{
    struct source source = {"schedule", text, strlen(text)};
    struct coder_options options = {.vector_bytes = loop->options->machine.vector_bytes};
    return coder_read(loop->arena, of->program, &source, &options, diags_create(loop->arena, 1));
}

/* Schedule to kernel; false: it is illegal, which costs nothing, or nothing new. */
static bool
propose(struct tuning *tuning, const char *text, const char *proposer, struct proposal *proposal)
{
    struct arena *arena = tuning->loop->arena;
    struct schedule *schedule = run__schedule(tuning->loop, tuning->to, text);
    struct buf kernel = buf_in(arena), words = buf_in(arena);
    if (schedule == NULL || !coder_emit(&kernel, arena, schedule, diags_create(arena, 1)))
        return false;
    coder_write(&words, schedule);
    *proposal = (struct proposal){proposer, words.data ? words.data : "", kernel.data, ""};
    return is_new(tuning, proposal);
}

static const char *
describe(struct tuning *tuning, const struct run_candidate *candidate, bool better)
{
    struct arena *arena = tuning->loop->arena;
    if (candidate->status != JUDGE_CORRECT)
        return arena_printf(arena, "%s%s%s", judge_status_name[candidate->status],
                            *candidate->reason ? ": " : "", candidate->reason);
    double ratio = candidate->us / best_us(tuning->to);
    if (better || fabs(ratio - 1) < 0.005)
        return better ? "correct, the best so far" : "correct, the same";
    return arena_printf(arena, "correct, %.0f %% %s", 100 * fabs(ratio - 1),
                        ratio > 1 ? "slower" : "faster at first sight");
}

static void
report_progress(struct tuning *tuning, const struct run_candidate *candidate, bool better)
{
    struct loop *loop = tuning->loop;
    const struct run_options *options = loop->options;
    tuning->history[tuning->to->evaluations - 1] = best_us(tuning->to);
    if (options->progress == NULL)
        return;
    options->progress(options->context,
                      &(struct run_progress){.program = tuning->to->program,
                                             .case_number = tuning->number,
                                             .case_count = options->case_count,
                                             .evaluations = loop->result->evaluations,
                                             .most = options->evaluations,
                                             .seconds = run__elapsed(loop),
                                             .most_seconds = options->seconds,
                                             .best_us = best_us(tuning->to),
                                             .light_us = tuning->to->light.us,
                                             .naive_us = fmax(tuning->shown_us, 0),
                                             .limit = tuning->to->light.limit,
                                             .schedule = candidate->schedule ? candidate->schedule
                                                                             : options->start->file,
                                             .said = describe(tuning, candidate, better),
                                             .better = better,
                                             .history = tuning->history,
                                             .history_count = tuning->to->evaluations});
}

/* Once something is there that it can be compared with, if anybody looks. */
static enum status
ask_naive(struct tuning *tuning)
{
    const struct run_judge *judge = tuning->loop->judge;
    const struct run_options *options = tuning->loop->options;
    if (tuning->shown_us >= 0 || tuning->to->best == NULL || options->progress == NULL ||
        options->no_naive || tuning->loop->is_part || judge->naive == NULL)
        return STATUS_OK;
    return judge->naive(judge->context, tuning->task, &tuning->shown_us, tuning->loop->diags);
}

/* How long `naive` takes is asked once, beside the first kernel that is correct. */
static enum status
measure_naive(struct tuning *tuning, const struct run_candidate *candidate)
{
    struct loop *loop = tuning->loop;
    const struct run_judge *judge = loop->judge;
    struct judge_setup setup = run__setup(loop, &loop->options->cases[tuning->number], 1);
    setup.no_baseline = false;
    struct judge_task *task;
    struct judge_report report = {0};
    enum status status = judge->open(judge->context, &setup, &task, loop->diags);
    if (status != STATUS_OK)
        return status;
    const char *text =
        run__judged_text(loop, tuning->to, candidate->kernel, candidate->schedule != NULL);
    status = judge->verdict(judge->context, task, loop->arena, text, &report, loop->diags);
    if (status == STATUS_OK && report.case_count > 0 && report.cases[0].pair_count > 0)
        tuning->naive_us = report.cases[0].pairs[0].time.median;
    judge->close(judge->context, task);
    return status;
}

/* Is it the best so far? Who seems to come near the champion is compared with it. */
static enum status
challenge(struct tuning *tuning, struct judge_kernel *kernel, double us, bool *wins)
{
    const struct run_judge *judge = tuning->loop->judge;
    *wins = tuning->champion == NULL;
    if (*wins || us >= best_us(tuning->to) * 1.03)
        return STATUS_OK;
    struct run_difference difference;
    enum status status = judge->compare(judge->context, tuning->task, tuning->champion, kernel, 0,
                                        &difference, tuning->loop->diags);
    *wins = difference.faster;
    return status;
}

static void
crown(struct tuning *tuning, struct judge_kernel *kernel, const struct run_candidate *candidate)
{
    const struct run_judge *judge = tuning->loop->judge;
    judge->drop(judge->context, tuning->champion);
    tuning->champion = kernel;
    tuning->to->best = candidate;
}

/* Looks at a kernel; one that may be the best is compared with the champion, and takes its place if
 * it wins. *us is INFINITY unless it was right. */
static enum status
try_kernel(struct tuning *tuning, const struct proposal *proposal, double *us)
{
    struct loop *loop = tuning->loop;
    const struct run_judge *judge = loop->judge;
    struct run_case *to = tuning->to;
    struct judge_report report;
    struct judge_kernel *kernel = NULL;
    struct run_candidate *candidate = &to->tried[to->tried_count];
    *us = INFINITY;
    if (to->tried_count >= loop->most_tried)
        return STATUS_OK;
    const char *text = run__judged_text(loop, to, proposal->kernel, proposal->schedule != NULL);
    bool better = false;
    enum status status =
        judge->look(judge->context, tuning->task, loop->arena, text, &kernel, &report, loop->diags);
    *us = INFINITY;
    if (status == STATUS_OK && report.status == JUDGE_BUILT) {
        /* what is only checked has no time: any correct kernel will do */
        *us = report.cases[0].timed ? report.cases[0].time.median : 1;
        to->light = report.cases[0].light;
        report.status = JUDGE_CORRECT;
        status = challenge(tuning, kernel, *us, &better);
    }
    if (status != STATUS_OK || !better)
        judge->drop(judge->context, kernel);
    if (status != STATUS_OK)
        return status;
    *candidate = (struct run_candidate){.number = ++loop->result->evaluations,
                                        .proposer = proposal->proposer,
                                        .schedule = proposal->schedule,
                                        .kernel = proposal->kernel,
                                        .status = report.status,
                                        .reason = report.reason,
                                        .us = *us};
    memcpy(tuning->seen[to->tried_count], proposal->hash, HASH_TEXT);
    to->evaluations++;
    if (to->tried_count++ == 0)
        loop->last_seconds += run__elapsed(loop) - tuning->began;
    loop->result->failed += report.status != JUDGE_CORRECT;
    if (better)
        crown(tuning, kernel, candidate);
    status = run__record(loop, to, candidate, &report);
    if (status == STATUS_OK)
        status = ask_naive(tuning);
    report_progress(tuning, candidate, better);
    if (status == STATUS_OK && better && loop->options->until_gain > 0 && tuning->naive_us == 0)
        status = measure_naive(tuning, candidate);
    return status;
}

/* ---- where they come from ---- */

static const char *
why_stop(const struct tuning *tuning)
{
    const struct run_options *options = tuning->loop->options;
    const struct run_case *to = tuning->to;
    if (run__is_stopped(tuning->loop))
        return "you";
    if (to->evaluations >= tuning->share.evaluations)
        return "evals";
    if (tuning->share.until > 0 &&
        run__elapsed(tuning->loop) >= run__until(tuning->loop, tuning->began, tuning->share.until))
        return "time";
    if (to->best != NULL && to->program->check_only)
        return "checked";
    if (to->best != NULL && to->light.us / to->best->us >= options->until_light)
        return "light";
    if (to->best != NULL && options->until_gain > 0 &&
        tuning->naive_us / to->best->us >= options->until_gain)
        return "gain";
    if (search_stale(tuning->search) >= options->patience)
        return "no progress";
    return NULL;
}

static enum status
try_schedule(struct tuning *tuning, const char *text, const char *proposer)
{
    struct proposal proposal;
    double us;
    if (why_stop(tuning) != NULL || !propose(tuning, text, proposer, &proposal))
        return STATUS_OK;
    return try_kernel(tuning, &proposal, &us);
}

/* The schedules of a file of ours, those of this case first; or the file as it is. */
static enum status
try_start(struct tuning *tuning)
{
    const struct run_start *start = tuning->loop->options->start;
    const char *name = tuning->to->program->case_name;
    enum status status = STATUS_OK;
    if (start == NULL)
        return STATUS_OK;
    for (unsigned own = 2; own-- > 0;)
        for (size_t i = 0; i < start->line_count && status == STATUS_OK; i++)
            if ((strcmp(start->lines[i].case_name, name) == 0) == own)
                status = try_schedule(tuning, start->lines[i].schedule, "start");
    struct proposal as_it_is = {"start", NULL, start->text, ""};
    double us;
    if (start->line_count == 0 && is_new(tuning, &as_it_is))
        status = try_kernel(tuning, &as_it_is, &us);
    return status;
}

static enum status
try_earlier(struct tuning *tuning)
{
    struct loop *loop = tuning->loop;
    const struct program *program = tuning->to->program;
    const char *found;
    enum status status = run__seeds(loop, program, loop->seeds, program->case_name, &found);
    while (status == STATUS_OK && *found)
        status = try_schedule(tuning, run__next_seed(loop->arena, &found), "memory");
    return status;
}

static struct coder_sketch
sketch_point(struct tuning *tuning, const struct search_point *point)
{
    struct coder_genome genome;
    memcpy(genome.gene, point->gene, sizeof genome.gene);
    return coder_sketch(tuning->space, &genome);
}

struct drafted {
    struct search_point point;
    double us; /* by the model */
};

/* The analytic model looks at many schedules, and the few that it likes best are tried first. */
static void
draft(struct tuning *tuning)
{
    struct drafted best[DRAFTS + 1] = {0}; /* sorted; the last place is for the next one */
    struct rng rng = rng_stream(tuning->loop->options->seed, "draft");
    const struct search_point usual = {{0}};
    size_t count = 0;
    for (unsigned i = 0; i < DRAFTED; i++) {
        struct drafted next = {usual, 0};
        struct coder_sketch sketch = sketch_point(tuning, &usual);
        for (size_t h = 0; h < sketch.hole_count; h++)
            if (rng_uniform(&rng) < 0.4)
                next.point.gene[sketch.holes[h].gene] =
                    (uint8_t)rng_below(&rng, sketch.holes[h].answers);
        struct schedule *schedule =
            run__schedule(tuning->loop, tuning->to, sketch_point(tuning, &next.point).text);
        if (schedule == NULL)
            continue;
        next.us = coder_estimate_us(schedule, &tuning->loop->options->machine);
        size_t at = count;
        for (; at > 0 && best[at - 1].us > next.us; at--)
            best[at] = best[at - 1];
        best[at] = next;
        count += count < DRAFTS;
    }
    for (size_t i = 0; i < count; i++)
        search_seed(tuning->search, &best[i].point);
}

/* Of many stages those are tried first that do most of the work. */
static void
read_holes(const struct tuning *tuning, const struct coder_sketch *sketch, struct drawn *drawn)
{
    bool large = tuning->to->program->stage_count > DRAFTABLE;
    drawn->hole_count = sketch->hole_count;
    drawn->holes = arena_array(tuning->loop->arena, sketch->hole_count + 1, sizeof *drawn->holes);
    for (size_t i = 0; i < sketch->hole_count; i++)
        drawn->holes[i] = (struct search_hole){sketch->holes[i].gene, sketch->holes[i].answers,
                                               large ? sketch->holes[i].share : 0};
}

static bool
is_among(const struct proposal *proposal, const struct drawn *drawn, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(drawn[i].proposal.hash, proposal->hash) == 0)
            return true;
    return false;
}

/* The next points that give something to judge, as many as the search knows without being told of
 * any; fewer after so many in a row that gave nothing. */
static size_t
draw_batch(struct tuning *tuning, struct drawn batch[SEARCH_AHEAD])
{
    enum { BARREN = 200 };
    size_t count = 0, most = search_ahead(tuning->search);
    size_t left = tuning->share.evaluations - tuning->to->evaluations;
    most = most < left ? most : left;
    for (unsigned barren = 0; count < most && barren < BARREN;) {
        struct drawn *next = &batch[count];
        search_ask(tuning->search, &next->point);
        struct coder_sketch sketch = sketch_point(tuning, &next->point);
        read_holes(tuning, &sketch, next);
        if (propose(tuning, sketch.text, "builtin", &next->proposal) &&
            !is_among(&next->proposal, batch, count)) {
            barren = 0;
            count++;
            continue;
        }
        search_skip(tuning->search, next->holes, next->hole_count);
        barren++;
    }
    return count;
}

/* The search's own best is kept as a point too: a layer's answers are answers of the whole. */
static void
keep_point(struct tuning *tuning, const struct search_point *point)
{
    struct run_case *to = tuning->to;
    if (to->tried_count == 0 || to->best != &to->tried[to->tried_count - 1])
        return;
    uint8_t *genes = arena_alloc(tuning->loop->arena, sizeof point->gene);
    memcpy(genes, point->gene, sizeof point->gene);
    to->genes = genes;
}

/* Compilers run beside each other, before anything is measured. */
static enum status
build_batch(struct tuning *tuning, const struct drawn *batch, size_t count)
{
    struct loop *loop = tuning->loop;
    const char *texts[SEARCH_AHEAD];
    if (loop->judge->ahead == NULL || count < 2)
        return STATUS_OK;
    for (size_t i = 0; i < count; i++)
        texts[i] = run__judged_text(loop, tuning->to, batch[i].proposal.kernel, true);
    return loop->judge->ahead(loop->judge->context, tuning->task, texts, count, loop->diags);
}

static enum status
evolve(struct tuning *tuning, const char **why)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && (*why = why_stop(tuning)) == NULL) {
        struct drawn batch[SEARCH_AHEAD];
        size_t count = draw_batch(tuning, batch);
        if (count == 0) {
            *why = "no progress";
            break;
        }
        status = build_batch(tuning, batch, count);
        for (size_t i = 0; i < count && status == STATUS_OK; i++) {
            double us;
            if ((*why = why_stop(tuning)) != NULL)
                return status;
            status = try_kernel(tuning, &batch[i].proposal, &us);
            keep_point(tuning, &batch[i].point);
            search_tell(tuning->search, &batch[i].point, batch[i].holes, batch[i].hole_count, us);
        }
    }
    return status;
}

/* The usual schedule: of a large program before its layers are looked at, so that something right
 * is there, and it is known how long it takes to compile. */
static enum status
try_usual(struct tuning *tuning)
{
    const struct search_point usual = {{0}};
    struct proposal proposal;
    double us;
    if (!propose(tuning, sketch_point(tuning, &usual).text, "builtin", &proposal))
        return STATUS_OK;
    enum status status = try_kernel(tuning, &proposal, &us);
    keep_point(tuning, &usual);
    return status;
}

/* Where to begin: with what served the layers of a large program, which takes seconds to compile,
 * or with drafts. */
static enum status
find_beginning(struct tuning *tuning)
{
    struct loop *loop = tuning->loop;
    const struct run_case *to = tuning->to;
    bool large = !to->program->check_only && !loop->is_part && loop->general == NULL;
    struct coder_genome genome;
    struct search_point point;
    enum status status = STATUS_NO;
    if (large && run__has_layers(to, tuning->space)) {
        status = try_usual(tuning);
        if (status == STATUS_OK)
            status = run__tune_layers(loop, to, tuning->space, &tuning->share, &genome);
    }
    if (status == STATUS_OK) {
        memcpy(point.gene, genome.gene, sizeof point.gene);
        search_seed(tuning->search, &point);
    } else if (status == STATUS_NO && to->program->stage_count <= DRAFTABLE)
        draft(tuning);
    return status == STATUS_NO ? STATUS_OK : status;
}

/* When no sketch was right, or no time was left for one: the usual schedule, then the plain one,
 * which is legal for every program. */
static enum status
try_last(struct tuning *tuning)
{
    struct proposal proposal;
    double us;
    enum status status = STATUS_OK;
    if (tuning->to->best == NULL && !tuning->to->program->check_only)
        status = try_usual(tuning);
    if (status != STATUS_OK || tuning->to->best != NULL ||
        !propose(tuning, "", "builtin", &proposal))
        return status;
    return try_kernel(tuning, &proposal, &us);
}

/* ---- all of it ---- */

static void
prepare(struct tuning *tuning)
{
    struct loop *loop = tuning->loop;
    size_t most = loop->most_tried;
    tuning->seen = arena_array(loop->arena, most, sizeof *tuning->seen);
    tuning->history = arena_array(loop->arena, most, sizeof *tuning->history);
    tuning->space = coder_space_open(loop->arena, tuning->to->program, &loop->options->machine);
    tuning->search = search_open(
        loop->arena, &(struct search_options){.seed = loop->options->seed + tuning->number});
}

enum status
run__tune(struct loop *loop, size_t number, const struct share *share, const char **why)
{
    const struct run_judge *judge = loop->judge;
    const struct run_options *options = loop->options;
    struct tuning tuning = {.loop = loop,
                            .to = &loop->result->cases[number],
                            .number = number,
                            .share = *share,
                            .shown_us = -1,
                            .began = run__elapsed(loop)};
    struct judge_setup setup = run__setup(loop, &options->cases[number], 1);
    setup.same_inputs = true;
    setup.only_timed = loop->is_part && !options->team; /* the whole is judged */
    enum status status = judge->open(judge->context, &setup, &tuning.task, loop->diags);
    if (status != STATUS_OK)
        return status;
    prepare(&tuning);
    if (run__is_stopped(loop)) /* before it began: a kernel that is right, and no more */
        *why = "you";
    else
        status = try_start(&tuning);
    if (status == STATUS_OK && *why == NULL)
        status = try_earlier(&tuning);
    if (status == STATUS_OK && *why == NULL)
        status = find_beginning(&tuning);
    if (status == STATUS_OK && *why == NULL)
        status = evolve(&tuning, why);
    if (status == STATUS_OK)
        status = try_last(&tuning);
    judge->drop(judge->context, tuning.champion);
    judge->close(judge->context, tuning.task);
    return status;
}
