/* The judge that measures. */
#include "run/run.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

#define KERNEL_FILE "schedule" /* a name for messages; it is part of what is built */

static double
seconds(void *context)
{
    (void)context;
    return clock_seconds();
}

static enum status
open_task(void *context, const struct judge_setup *setup, struct judge_task **task,
          struct diags *diags)
{
    return judge_task_open(context, setup, task, diags);
}

static void
close_task(void *context, struct judge_task *task)
{
    (void)context;
    judge_task_close(task);
}

/* What the report has from the task outlives it. */
static void
keep(struct arena *arena, struct judge_report *report)
{
    for (size_t i = 0; i < report->case_count; i++) {
        struct judge_case *row = &report->cases[i];
        struct program *program = arena_alloc(arena, sizeof *program);
        *program = *row->program;
        program->case_name = arena_strdup(arena, program->case_name);
        row->program = program;
        if (row->light.limit != NULL)
            row->light.limit = arena_strdup(arena, row->light.limit);
        if (row->light.level != NULL)
            row->light.level = arena_strdup(arena, row->light.level);
    }
    if (report->case_name != NULL)
        report->case_name = arena_strdup(arena, report->case_name);
}

static enum status
look(void *context, struct judge_task *task, struct arena *arena, const char *text,
     struct judge_kernel **kernel, struct judge_report *report, struct diags *diags)
{
    (void)context;
    enum status status =
        judge_build(task, arena, KERNEL_FILE, text, strlen(text), kernel, report, diags);
    if (status == STATUS_OK && report->status == JUDGE_BUILT)
        status = judge_glance(task, arena, *kernel, report, diags);
    if (status == STATUS_OK)
        keep(arena, report);
    return status;
}

static enum status
ahead(void *context, struct judge_task *task, const char *const *texts, size_t count,
      struct diags *diags)
{
    (void)context;
    (void)diags;
    judge_build_ahead(task, KERNEL_FILE, texts, count);
    return STATUS_OK;
}

static void
drop(void *context, struct judge_kernel *kernel)
{
    (void)context;
    judge_kernel_close(kernel);
}

static enum status
build(void *context, struct judge_task *task, struct arena *arena, const char *text,
      struct judge_report *report, struct diags *diags)
{
    struct judge_kernel *kernel;
    (void)context;
    enum status status =
        judge_build(task, arena, "kernel", text, strlen(text), &kernel, report, diags);
    if (status == STATUS_OK) {
        judge_kernel_close(kernel);
        keep(arena, report);
    }
    return status;
}

/* Interleaved, so that no drift of the machine decides. */
static enum status
compare(void *context, struct judge_task *task, struct judge_kernel *champion,
        struct judge_kernel *challenger, size_t number, struct run_difference *difference,
        struct diags *diags)
{
    struct measure_rule rule = measure_usual_rule;
    struct measure_outcome outcome;
    struct judge_kernel *failed;
    (void)context;
    rule.first = 8;
    rule.last = 24;
    enum status status =
        judge_compare(task, champion, challenger, number, &rule, &outcome, &failed, diags);
    *difference = (struct run_difference){.ratio = 1, .low = 1, .high = 1};
    if (status == STATUS_OK && failed == NULL && isfinite(outcome.ratio))
        *difference = (struct run_difference){.faster = outcome.verdict == MEASURE_FASTER,
                                              .slower = outcome.verdict == MEASURE_SLOWER,
                                              .ratio = outcome.ratio,
                                              .low = outcome.low,
                                              .high = outcome.high};
    else if (failed == challenger)
        difference->slower = true;
    return status;
}

static enum status
verdict(void *context, struct judge_task *task, struct arena *arena, const char *text,
        struct judge_report *report, struct diags *diags)
{
    (void)context;
    judge_build_ahead(task, "kernel", &text, 1); /* its cases beside each other */
    enum status status =
        judge_verdict(task, arena, "kernel", text, strlen(text), NULL, 0, NULL, report, diags);
    if (status == STATUS_OK)
        keep(arena, report);
    return status;
}

static enum status
naive(void *context, struct judge_task *task, double *us, struct diags *diags)
{
    (void)context;
    return judge_naive_us(task, 0, us, diags);
}

struct run_judge
run_real_judge(struct judge *judge)
{
    return (struct run_judge){.context = judge,
                              .seconds = seconds,
                              .open = open_task,
                              .close = close_task,
                              .look = look,
                              .ahead = ahead,
                              .drop = drop,
                              .build = build,
                              .compare = compare,
                              .verdict = verdict,
                              .naive = naive};
}
