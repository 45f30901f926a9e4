/* The loop: one case after the other, each with its share of the budget, then all of them in one
 * file before the judge. */
#include "run/run_int.h"

#include <math.h>
#include <string.h>

/* ---- the cases ---- */

/* Of the time for all: what the final judgement gets, a part of it and no more than it needs. */
static const double FINAL_PART = 0.2, FINAL_SECONDS = 3; /* the latter for each case */

static double
last_seconds(const struct run_options *options)
{
    return fmin(FINAL_PART * options->seconds, FINAL_SECONDS * (double)options->case_count);
}

/* What is left, divided among the cases that are left; one that is only checked needs any kernel
 * that is right. */
static struct share
share_of(const struct loop *loop, size_t number, unsigned most, double seconds)
{
    const struct run_result *result = loop->result;
    bool is_checked = result->cases[number].program->check_only;
    unsigned left = most > result->evaluations ? most - result->evaluations : 0;
    unsigned timed = !is_checked, checked = 0;
    double now = run__elapsed(loop);
    for (size_t i = number + 1; i < result->case_count; i++)
        ++*(result->cases[i].program->check_only ? &checked : &timed);
    if (is_checked)
        return (struct share){left > timed ? left - timed : 1, seconds};
    unsigned evaluations = left > checked ? (left - checked) / timed : 0;
    return (struct share){evaluations > 0 ? evaluations : 1,
                          seconds > 0 ? now + (seconds - now) / timed : 0};
}

enum status
run__tune_cases(struct loop *loop, unsigned evaluations, double seconds)
{
    struct run_result *result = loop->result;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < result->case_count && status == STATUS_OK; i++) {
        struct share share = share_of(loop, i, evaluations, seconds);
        const char *why = NULL;
        status = run__tune(loop, i, &share, &why);
        if (why != NULL && (result->stopped == NULL || strcmp(why, "you") == 0))
            result->stopped = why;
        if (status == STATUS_OK && result->cases[i].best == NULL)
            status = STATUS_NO;
    }
    return status;
}

/* ---- the file ---- */

static enum status
judge_cases(struct loop *loop, const size_t *cases, size_t count, enum judge_effort effort,
            struct judge_report *report)
{
    const struct run_judge *judge = loop->judge;
    struct judge_setup setup = run__setup_verdict(loop, cases, count);
    setup.no_baseline = effort == JUDGE_QUICK || loop->options->no_naive;
    setup.effort = effort;
    struct judge_task *task;
    enum status status = judge->open(judge->context, &setup, &task, loop->diags);
    if (status != STATUS_OK)
        return status;
    status = judge->verdict(judge->context, task, loop->arena, loop->result->kernel, report,
                            loop->diags);
    judge->close(judge->context, task);
    return status;
}

static bool
is_accepted(const struct loop *loop, const struct judge_report *report)
{
    if (report->status != JUDGE_CORRECT)
        return false;
    return !loop->options->deterministic || (report->deterministic && report->same_bits);
}

/* The case that the file was refused for, with its report; NULL: none in particular. A file whose
 * bits differ is asked case by case. */
static enum status
find_culprit(struct loop *loop, struct judge_report *report, struct run_case **culprit)
{
    struct run_result *result = loop->result;
    enum status status = STATUS_OK;
    *culprit = NULL;
    *report = result->report;
    for (size_t i = 0; i < result->case_count && status == STATUS_OK && !*culprit; i++) {
        const char *name = result->cases[i].program->case_name;
        if (result->report.status == JUDGE_CORRECT) {
            status = judge_cases(loop, &loop->options->cases[i], 1, JUDGE_QUICK, report);
            if (status == STATUS_OK && !is_accepted(loop, report))
                *culprit = &result->cases[i];
        } else if (report->case_name ? !strcmp(report->case_name, name) : result->case_count == 1)
            *culprit = &result->cases[i];
    }
    return status;
}

/* One case's part of a report, as the archive keeps it with the candidate. */
static struct judge_report
report_of(const struct judge_report *report, const struct run_case *of)
{
    struct judge_report part = *report;
    for (size_t i = 0; i < report->case_count; i++)
        if (!strcmp(report->cases[i].program->case_name, of->program->case_name)) {
            part.cases = &report->cases[i];
            part.case_count = 1;
        }
    if (part.status == JUDGE_CORRECT) {
        part.status = JUDGE_REJECTED;
        part.reason = "its bits differ from call to call or with the number of threads";
    }
    return part;
}

/* The search looks at one set of inputs; the judge at all kinds. Whom it refuses gives way to the
 * next best of that case. STATUS_NO: there is none, or no case in particular is to blame. */
static enum status
demote(struct loop *loop)
{
    struct judge_report report;
    struct run_case *of;
    enum status status = find_culprit(loop, &report, &of);
    if (status != STATUS_OK || of == NULL)
        return status != STATUS_OK ? status : STATUS_NO;
    struct run_candidate *refused = &of->tried[of->best - of->tried];
    report = report_of(&report, of);
    refused->status = report.status;
    refused->reason = report.reason;
    status = run__record_again(loop, refused, &report);
    of->best = NULL;
    for (size_t i = 0; i < of->tried_count; i++)
        if (of->tried[i].status == JUDGE_CORRECT &&
            (of->best == NULL || of->tried[i].us < of->best->us))
            of->best = &of->tried[i];
    return status == STATUS_OK && of->best == NULL ? STATUS_NO : status;
}

/* All cases in one file, which is what is given away, and what the judge has to accept. */
static enum status
finish(struct loop *loop)
{
    struct run_result *result = loop->result;
    const struct run_options *options = loop->options;
    enum status status = STATUS_OK;
    while (status == STATUS_OK) {
        result->kernel = run__file(loop);
        status =
            judge_cases(loop, options->cases, options->case_count, JUDGE_NORMAL, &result->report);
        bool again = false;
        if (status == STATUS_OK && !is_accepted(loop, &result->report))
            status = demote(loop); /* also of one who was stopped: somebody is right */
        else if (status == STATUS_OK) {
            status = run__take_plain(loop, &again);
            if (status == STATUS_OK && !again)
                return run__record_file(loop);
        }
    }
    return status;
}

static void
explain(struct loop *loop)
{
    for (size_t i = 0; i < loop->result->case_count; i++) {
        struct run_case *of = &loop->result->cases[i];
        struct schedule *best =
            of->best->schedule ? run__schedule(loop, of, of->best->schedule) : NULL;
        struct buf words = buf_in(loop->arena);
        if (best != NULL)
            coder_explain(&words, best, &loop->options->machine);
        of->words = words.data;
    }
}

/* ---- the whole ---- */

enum status
run__open_cases(struct loop *loop)
{
    const struct run_options *options = loop->options;
    struct run_result *result = loop->result;
    result->cases = arena_array(loop->arena, options->case_count, sizeof *result->cases);
    for (size_t i = 0; i < options->case_count; i++) {
        struct program *program =
            lang_program(options->lang, options->cases[i], NULL, 0, loop->diags);
        if (program == NULL)
            return STATUS_INPUT;
        result->cases[i].program = program;
        result->cases[i].tried =
            arena_array(loop->arena, loop->most_tried, sizeof *result->cases[i].tried);
    }
    loop->general = run__general(loop->arena, result->cases[0].program);
    return STATUS_OK;
}

struct loop
run__part(const struct loop *loop, const struct run_options *options, struct run_result *result)
{
    return (struct loop){.arena = loop->arena,
                         .judge = loop->judge,
                         .options = options,
                         .result = result,
                         .diags = loop->diags,
                         .ledger = loop->ledger,
                         .begun_evaluations = options->evaluations,
                         .begun_seconds = options->seconds,
                         .most_tried = options->evaluations + 3 * options->case_count + 2,
                         .is_part = true};
}

enum status
run_optimize_by(struct arena *arena, const struct run_judge *judge,
                const struct run_options *options, struct run_result *result, struct diags *diags)
{
    struct run_options filled = *options;
    filled.patience = filled.patience ? filled.patience : 24;
    filled.until_light = filled.until_light > 0 ? filled.until_light : 0.95;
    filled.seconds -= last_seconds(options);
    struct ledger ledger;
    *result = (struct run_result){.case_count = filled.case_count, .number = -1};
    enum status status =
        ledger_open(&ledger, arena, &filled, judge->seconds, judge->context, diags);
    struct run_judge remembering = ledger_judge(&ledger, judge);
    struct loop loop = {.arena = arena,
                        .judge = &remembering,
                        .options = &filled,
                        .result = result,
                        .diags = diags,
                        .ledger = &ledger,
                        .kept_back = last_seconds(options),
                        .seeds = 1u << RECIPE_SEED_PROGRAM | 1u << RECIPE_SEED_SHAPES,
                        /* the start, the plain schedule and the plain C of each case on top */
                        .most_tried = filled.evaluations + 3 * filled.case_count + 2};
    if (status == STATUS_OK)
        status = run__open_cases(&loop);
    if (status == STATUS_OK)
        status = run__read_machine(&loop, &filled.machine);
    if (status == STATUS_OK)
        status = run__read_limits(&loop);
    if (status == STATUS_OK)
        status = run__read_inputs(&loop);
    if (status == STATUS_OK)
        status = filled.team ? run__team(&loop)
                             : run__tune_cases(&loop, loop.begun_evaluations, loop.begun_seconds);
    if (run__is_stopped(&loop))
        result->stopped = "you";
    if (status == STATUS_OK)
        status = finish(&loop);
    if (status == STATUS_OK)
        explain(&loop);
    result->seconds = run__elapsed(&loop);
    result->difference = ledger.difference;
    result->over = ledger.over;
    if (result->stopped == NULL)
        result->stopped = "evals";
    if (status != STATUS_OK && status != STATUS_NO)
        result->stopped = NULL; /* it has no end: it may go on */
    return status;
}

enum status
run_optimize(struct arena *arena, struct judge *judge, const struct run_options *options,
             struct run_result *result, struct diags *diags)
{
    struct run_judge real = run_real_judge(judge);
    return run_optimize_by(arena, &real, options, result, diags);
}
