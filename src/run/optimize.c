/* The loop: one case after the other, each with its share of the budget, then all of them in one
 * file before the judge. */
#include "run/run_int.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/rng.h"
#include "measure/measure.h"
#include "search/search.h"

#include <math.h>
#include <string.h>

enum {
    DRAFTED = 64,   /* schedules that the model looks at, */
    DRAFTS = 5,     /* and how many of them are tried */
    DRAFTABLE = 24, /* stages: of larger programs a look costs too much */
};

struct loop { /* of all cases */
    struct arena *arena;
    struct judge *judge;
    const struct run_options *options;
    struct run_result *result;
    struct diags *diags;
    double began;
};

struct tuning { /* of one case */
    struct loop *loop;
    struct run_case *to;
    size_t number; /* among the cases */
    struct judge_task *task;
    struct judge_kernel *champion;
    struct coder_space *space;
    struct search *search;
    struct run_candidate *tried;
    size_t tried_count;
    char (*seen)[HASH_TEXT]; /* of kernels */
    double *history;
    unsigned most; /* evaluations */
    double until;  /* seconds since the loop began */
};

static double
elapsed(const struct loop *loop)
{
    return clock_seconds() - loop->began;
}

static bool
is_stopped(const struct loop *loop)
{
    return loop->options->stop != NULL && *loop->options->stop;
}

/* ---- a candidate ---- */

/* Two texts that become the same kernel are one candidate. */
static bool
is_new(struct tuning *tuning, const char *kernel)
{
    char hash[HASH_TEXT];
    hash_sha256(kernel, strlen(kernel), hash);
    for (size_t i = 0; i < tuning->tried_count; i++)
        if (strcmp(tuning->seen[i], hash) == 0)
            return false;
    memcpy(tuning->seen[tuning->tried_count], hash, HASH_TEXT);
    return true;
}

static struct schedule *
read_schedule(const struct loop *loop, const struct run_case *of, const char *text)
{
    struct source source = {"schedule", text, strlen(text)};
    struct coder_options options = {loop->options->machine.vector_bytes};
    return coder_read(loop->arena, of->program, &source, &options, diags_create(loop->arena, 1));
}

/* Schedule to kernel; NULL: illegal, which costs nothing. */
static const char *
emit_kernel(struct tuning *tuning, const char *text, const char **filled)
{
    struct arena *arena = tuning->loop->arena;
    struct schedule *schedule = read_schedule(tuning->loop, tuning->to, text);
    struct buf kernel = buf_in(arena), words = buf_in(arena);
    if (schedule == NULL || !coder_emit(&kernel, arena, schedule, diags_create(arena, 1)))
        return NULL;
    coder_write(&words, schedule);
    *filled = words.data ? words.data : "";
    return kernel.data;
}

/* Is it faster than the champion? Interleaved, so that no drift of the machine decides. */
static enum status
challenge(struct tuning *tuning, struct judge_kernel *kernel, bool *wins)
{
    struct measure_rule rule = measure_usual_rule;
    struct measure_outcome outcome;
    struct judge_kernel *failed;
    rule.first = 8;
    rule.last = 24;
    *wins = true;
    if (tuning->champion == NULL)
        return STATUS_OK;
    enum status status = judge_compare(tuning->task, tuning->champion, kernel, 0, &rule, &outcome,
                                       &failed, tuning->loop->diags);
    *wins = status == STATUS_OK && failed == NULL && outcome.verdict == MEASURE_FASTER;
    return status;
}

static const char *
describe(struct tuning *tuning, const struct run_candidate *candidate, bool better)
{
    struct arena *arena = tuning->loop->arena;
    if (candidate->status != JUDGE_CORRECT)
        return arena_printf(arena, "%s%s%s", judge_status_name[candidate->status],
                            *candidate->reason ? ": " : "", candidate->reason);
    double ratio = candidate->us / tuning->to->us;
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
    tuning->history[tuning->to->evaluations - 1] = tuning->to->us;
    if (options->progress == NULL)
        return;
    options->progress(options->context,
                      &(struct run_progress){.program = tuning->to->program,
                                             .case_number = tuning->number,
                                             .case_count = options->case_count,
                                             .evaluations = loop->result->evaluations,
                                             .most = options->evaluations,
                                             .seconds = elapsed(loop),
                                             .most_seconds = options->seconds,
                                             .best_us = tuning->to->us,
                                             .light_us = tuning->to->light.us,
                                             .limit = tuning->to->light.limit,
                                             .schedule = candidate->schedule,
                                             .said = describe(tuning, candidate, better),
                                             .better = better,
                                             .history = tuning->history,
                                             .history_count = tuning->to->evaluations});
}

static enum status
record(struct tuning *tuning, const struct run_candidate *candidate, const char *proposer)
{
    struct loop *loop = tuning->loop;
    const struct run_options *options = loop->options;
    if (options->store == NULL)
        return STATUS_OK;
    struct store_candidate row = {.run = options->run->id,
                                  .kind = STORE_SCHEDULE,
                                  .proposer = proposer,
                                  .phase = tuning->to->program->case_name,
                                  .schedule = candidate->schedule,
                                  .kernel = candidate->kernel,
                                  .kernel_length = strlen(candidate->kernel),
                                  .added = clock_wall()};
    enum status status = store_candidate_add(options->store, &row, loop->diags);
    struct buf sizes = buf_in(loop->arena);
    for (size_t i = 0; i < tuning->to->program->dim_count; i++)
        buf_printf(&sizes, "%s%s=%lld", i ? " " : "", tuning->to->program->dims[i].name,
                   (long long)tuning->to->program->dims[i].size);
    bool correct = candidate->status == JUDGE_CORRECT;
    struct store_case of = {.name = tuning->to->program->case_name,
                            .sizes = sizes.data,
                            .median_us = correct ? candidate->us : NAN,
                            .min_us = NAN,
                            .low_us = NAN,
                            .high_us = NAN,
                            .light = correct ? tuning->to->light.us / candidate->us : NAN,
                            .error_over_gate = NAN};
    struct store_verdict verdict = {.status = judge_status_name[candidate->status],
                                    .reason = candidate->reason,
                                    .whole = options->case_count == 1,
                                    .judged = row.added,
                                    .cases = &of,
                                    .case_count = 1};
    if (status == STATUS_OK)
        status = store_verdict_add(options->store, row.id, &verdict, loop->diags);
    return status;
}

static enum status
look_at(struct tuning *tuning, const char *text, struct judge_kernel **kernel,
        struct judge_report *report)
{
    struct loop *loop = tuning->loop;
    enum status status = judge_build(tuning->task, loop->arena, "schedule", text, strlen(text),
                                     kernel, report, loop->diags);
    if (status == STATUS_OK && report->status == JUDGE_BUILT)
        status = judge_glance(tuning->task, loop->arena, *kernel, report, loop->diags);
    return status;
}

/* Looks at a kernel; one that may be the best is compared with the champion, and takes its place if
 * it wins. *us is INFINITY unless it was right. */
static enum status
try_kernel(struct tuning *tuning, const char *schedule, const char *text, const char *proposer,
           double *us)
{
    struct loop *loop = tuning->loop;
    struct judge_report report;
    struct judge_kernel *kernel = NULL;
    struct run_candidate *candidate = &tuning->tried[tuning->tried_count];
    bool better = false;
    enum status status = look_at(tuning, text, &kernel, &report);
    *us = INFINITY;
    if (status == STATUS_OK && report.status == JUDGE_BUILT) {
        /* what is only checked has no time: any correct kernel will do */
        *us = report.cases[0].timed ? report.cases[0].time.median : 1;
        tuning->to->light = report.cases[0].light;
        report.status = JUDGE_CORRECT;
        if (*us < tuning->to->us * 1.03)
            status = challenge(tuning, kernel, &better);
    }
    if (better) {
        judge_kernel_close(tuning->champion);
        tuning->champion = kernel;
        tuning->to->schedule = schedule;
        tuning->to->kernel = text;
        tuning->to->us = *us;
    } else
        judge_kernel_close(kernel);
    if (status != STATUS_OK)
        return status;
    tuning->to->evaluations++;
    loop->result->evaluations++;
    loop->result->failed += report.status != JUDGE_CORRECT;
    *candidate = (struct run_candidate){.number = loop->result->evaluations,
                                        .schedule = schedule,
                                        .kernel = text,
                                        .status = report.status,
                                        .reason = report.reason,
                                        .us = *us};
    tuning->tried_count++;
    status = record(tuning, candidate, proposer);
    report_progress(tuning, candidate, better);
    return status;
}

/* ---- one case ---- */

static const char *
why_stop(const struct tuning *tuning)
{
    const struct run_options *options = tuning->loop->options;
    const struct run_case *to = tuning->to;
    if (is_stopped(tuning->loop))
        return "you";
    if (to->evaluations >= tuning->most)
        return "evals";
    if (tuning->until > 0 && elapsed(tuning->loop) >= tuning->until)
        return "time";
    if (to->schedule != NULL && to->program->check_only)
        return "checked";
    if (to->schedule != NULL && to->light.us / to->us >= options->until_light)
        return "light";
    if (search_stale(tuning->search) >= options->patience)
        return "no progress";
    return NULL;
}

/* What served the same program at other sizes. */
static enum status
try_earlier(struct tuning *tuning)
{
    const struct run_options *options = tuning->loop->options;
    struct store_question question = {.family = options->family,
                                      .target = options->target->name,
                                      .machine_key = options->machine_key,
                                      .most = 4};
    struct store_answer *answers;
    size_t count = 0;
    enum status status = STATUS_OK;
    if (options->store != NULL)
        status = store_earlier(options->store, tuning->loop->arena, &question, &answers, &count,
                               tuning->loop->diags);
    for (size_t i = 0; i < count && status == STATUS_OK && why_stop(tuning) == NULL; i++) {
        const char *filled, *kernel = emit_kernel(tuning, answers[i].schedule, &filled);
        double us;
        if (kernel != NULL && is_new(tuning, kernel))
            status = try_kernel(tuning, filled, kernel, "memory", &us);
    }
    return status == STATUS_NO ? STATUS_OK : status;
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
            read_schedule(tuning->loop, tuning->to, sketch_point(tuning, &next.point).text);
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

static enum status
evolve(struct tuning *tuning, const char **why)
{
    enum status status = STATUS_OK;
    unsigned barren = 0; /* points in a row that gave nothing to judge */
    while (status == STATUS_OK && (*why = why_stop(tuning)) == NULL) {
        struct search_point point;
        const char *filled = NULL;
        double us;
        search_ask(tuning->search, &point);
        struct coder_sketch sketch = sketch_point(tuning, &point);
        struct search_hole holes[128];
        size_t hole_count = 0;
        for (; hole_count < sketch.hole_count && hole_count < 128; hole_count++)
            holes[hole_count] = (struct search_hole){sketch.holes[hole_count].gene,
                                                     sketch.holes[hole_count].answers};
        const char *kernel = emit_kernel(tuning, sketch.text, &filled);
        if (kernel == NULL || !is_new(tuning, kernel)) {
            search_skip(tuning->search, holes, hole_count);
            if (++barren == 200) {
                *why = "no progress";
                break;
            }
            continue;
        }
        barren = 0;
        status = try_kernel(tuning, filled, kernel, "builtin", &us);
        search_tell(tuning->search, &point, holes, hole_count, us);
    }
    return status;
}

/* When no sketch was right: the plain schedule, legal for every program. */
static enum status
try_plain(struct tuning *tuning)
{
    const char *filled, *kernel = emit_kernel(tuning, "", &filled);
    double us;
    if (kernel == NULL || tuning->to->schedule != NULL || is_stopped(tuning->loop) ||
        !is_new(tuning, kernel))
        return STATUS_OK;
    return try_kernel(tuning, filled, kernel, "builtin", &us);
}

static enum status
tune(struct tuning *tuning, const char **why)
{
    struct loop *loop = tuning->loop;
    const struct run_options *options = loop->options;
    struct judge_setup setup = {.lang = options->lang,
                                .cases = &options->cases[tuning->number],
                                .case_count = 1,
                                .target = options->target,
                                .threads = options->threads,
                                .same_inputs = true,
                                .no_baseline = true,
                                .effort = JUDGE_QUICK};
    enum status status = judge_task_open(loop->judge, &setup, &tuning->task, loop->diags);
    if (status != STATUS_OK)
        return status;
    size_t most = tuning->most + 2;
    tuning->tried = arena_array(loop->arena, most, sizeof *tuning->tried);
    tuning->seen = arena_array(loop->arena, most, sizeof *tuning->seen);
    tuning->history = arena_array(loop->arena, most, sizeof *tuning->history);
    tuning->space = coder_space_open(loop->arena, tuning->to->program, &options->machine);
    tuning->search =
        search_open(loop->arena, &(struct search_options){.seed = options->seed + tuning->number});
    if (tuning->to->program->stage_count <= DRAFTABLE)
        draft(tuning);
    status = try_earlier(tuning);
    if (status == STATUS_OK)
        status = evolve(tuning, why);
    if (status == STATUS_OK)
        status = try_plain(tuning);
    judge_kernel_close(tuning->champion);
    judge_task_close(tuning->task);
    tuning->to->tried = tuning->tried;
    tuning->to->tried_count = tuning->tried_count;
    return status;
}

/* ---- all cases ---- */

/* Cases that are only checked are served by what the first one's lines give at their sizes. */
static enum status
tune_cases(struct loop *loop)
{
    const struct run_options *options = loop->options;
    struct run_result *result = loop->result;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < options->case_count && status == STATUS_OK; i++) {
        struct run_case *to = &result->cases[i];
        size_t left = options->case_count - i;
        struct tuning tuning = {.loop = loop, .to = to, .number = i};
        const char *why = NULL;
        to->us = INFINITY;
        to->program = lang_program(options->lang, options->cases[i], NULL, 0, loop->diags);
        if (to->program == NULL)
            return STATUS_INPUT;
        tuning.most = (options->evaluations - result->evaluations) / (unsigned)left;
        tuning.most = tuning.most > 0 ? tuning.most : 1;
        if (options->seconds > 0)
            tuning.until = elapsed(loop) + (options->seconds - elapsed(loop)) / (double)left;
        status = tune(&tuning, &why);
        if (why != NULL && (result->stopped == NULL || strcmp(why, "you") == 0))
            result->stopped = why;
        if (status == STATUS_OK && to->schedule == NULL)
            status = STATUS_NO;
    }
    return status;
}

static enum status
judge_file(struct loop *loop)
{
    const struct run_options *options = loop->options;
    struct judge_setup setup = {.lang = options->lang,
                                .cases = options->cases,
                                .case_count = options->case_count,
                                .target = options->target,
                                .threads = options->threads,
                                .effort = JUDGE_NORMAL};
    struct judge_task *task;
    const char *kernel = loop->result->kernel;
    enum status status = judge_task_open(loop->judge, &setup, &task, loop->diags);
    if (status != STATUS_OK)
        return status;
    status = judge_verdict(task, loop->arena, "kernel", kernel, strlen(kernel), NULL, 0, NULL,
                           &loop->result->report, loop->diags);
    judge_task_close(task);
    return status;
}

/* The search looks at one set of inputs; the judge at all kinds. Whom it refuses gives way to the
 * next best of that case. False: there is none, or no case in particular is to blame. */
static bool
demote(struct loop *loop)
{
    const struct judge_report *report = &loop->result->report;
    for (size_t i = 0; i < loop->result->case_count; i++) {
        struct run_case *to = &loop->result->cases[i];
        struct run_candidate *next = NULL;
        if (report->case_name == NULL || strcmp(report->case_name, to->program->case_name) != 0)
            continue;
        for (size_t k = 0; k < to->tried_count; k++) {
            struct run_candidate *tried = &to->tried[k];
            if (tried->kernel == to->kernel) {
                tried->status = report->status;
                tried->reason = report->reason;
            } else if (tried->status == JUDGE_CORRECT && (next == NULL || tried->us < next->us))
                next = tried;
        }
        if (next == NULL)
            return false;
        to->schedule = next->schedule;
        to->kernel = next->kernel;
        to->us = next->us;
        return true;
    }
    return false;
}

/* All cases in one file, which is what is given away, and what the judge has to accept. */
static enum status
finish(struct loop *loop)
{
    struct run_result *result = loop->result;
    enum status status;
    do {
        struct buf file = buf_in(loop->arena);
        run_put_file(&file, loop->arena, result->cases, result->case_count);
        result->kernel = file.data;
        status = judge_file(loop);
    } while (status == STATUS_OK && result->report.status != JUDGE_CORRECT && !is_stopped(loop) &&
             demote(loop));
    if (status == STATUS_OK && result->report.status != JUDGE_CORRECT)
        status = STATUS_NO;
    return status;
}

static void
explain(struct loop *loop)
{
    for (size_t i = 0; i < loop->result->case_count; i++) {
        struct run_case *of = &loop->result->cases[i];
        struct schedule *best = read_schedule(loop, of, of->schedule);
        struct buf words = buf_in(loop->arena);
        if (best != NULL)
            coder_explain(&words, best);
        of->words = words.data;
    }
}

enum status
run_optimize(struct arena *arena, struct judge *judge, const struct run_options *options,
             struct run_result *result, struct diags *diags)
{
    struct run_options filled = *options;
    filled.patience = filled.patience ? filled.patience : 24;
    filled.until_light = filled.until_light > 0 ? filled.until_light : 0.95;
    struct loop loop = {arena, judge, &filled, result, diags, clock_seconds()};
    *result = (struct run_result){.case_count = filled.case_count};
    result->cases = arena_array(arena, filled.case_count, sizeof *result->cases);
    enum status status = tune_cases(&loop);
    if (status == STATUS_OK)
        status = finish(&loop);
    if (status == STATUS_OK)
        explain(&loop);
    result->seconds = elapsed(&loop);
    if (result->stopped == NULL)
        result->stopped = "evals";
    return status;
}
