/* One task of a benchmark: as `hone optimize` does it, without its files and screens, and then
 * against what the benchmark is against. Whatever goes wrong is what came of the task. */
#include "app/archive.h"
#include "app/bench.h"
#include "app/judge.h"
#include "app/optimize.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/text.h"
#include "bench/rivals.h"

struct work {
    struct cli *cli;
    struct cli search; /* as if the verb were `optimize` */
    const struct store_bench *bench;
    struct store_bench_task row;
    struct bench_standby *standby;
};

/* ---- what is said meanwhile ---- */

#define RACING "race"

static void
say(void *context, const struct run_progress *progress)
{
    (void)context;
    if (progress->program->check_only)
        return; /* its time is nobody's */
    printf("at %u %u %.17g %.17g\n", progress->evaluations, progress->most, progress->best_us,
           progress->light_us);
    fflush(stdout);
}

bool
bench_hear(const char *line, struct bench_said *said)
{
    if (text_starts(line, RACING))
        return said->racing = true;
    return sscanf(line, "at %u %u %lf %lf", &said->evaluations, &said->most, &said->best_us,
                  &said->light_us) == 4;
}

/* ---- against what ---- */

static const char *
first_message(struct arena *arena, const struct diags *diags)
{
    const struct diag *diag = NULL;
    for (size_t i = 0; i < diags_count(diags); i++) /* warnings are no reasons */
        if (diag == NULL || (diag->level != DIAG_ERROR && diags_get(diags, i)->level == DIAG_ERROR))
            diag = diags_get(diags, i);
    if (diag == NULL)
        return "nobody said why";
    const char *path = diag->place.source ? diag->place.source->path : NULL;
    if (path == NULL)
        return diag->message;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (diag->place.line == 0)
        return arena_printf(arena, "%s: %s", name, diag->message);
    return arena_printf(arena, "%s:%u: %s", name, diag->place.line, diag->message);
}

/* A task that some rival has no time for is still a task: the row says why. False: the kernel was
 * found out, and the row says that. */
static bool
race(struct work *work, const struct run_options *options, struct judge *judge,
     const struct run_result *result, struct store_baseline **rows, size_t *count)
{
    struct arena *arena = work->cli->arena;
    struct diags *diags = diags_create(arena, 0);
    struct bench_absent absent;
    puts(RACING);
    fflush(stdout);
    struct bench_rivalry rivalry = {.judge = judge,
                                    .lang = options->lang,
                                    .case_number = options->cases[0],
                                    .target = options->target,
                                    .threads = options->machine.threads,
                                    .seed = options->seed,
                                    .suite = work->row.suite,
                                    .path = work->row.path,
                                    .torch = bench_torch(work->cli),
                                    .kernel = result->kernel,
                                    .judged_us = judge_first_timed(&result->report)->time.median,
                                    .light_us = judge_first_timed(&result->report)->light.us,
                                    .standby = work->standby};
    enum status status =
        bench_against(arena, &rivalry, work->bench->against, rows, count, &absent, diags);
    if (status != STATUS_OK)
        work->row.reason = arena_printf(arena, "race: %s", first_message(arena, diags));
    else if (absent.name != NULL)
        work->row.reason =
            arena_printf(arena, "%s: %s", absent.name, first_message(arena, absent.reasons));
    if (status == STATUS_NO)
        work->row.status = judge_status_name[JUDGE_CHEATED];
    return status != STATUS_NO;
}

static struct store_baseline
baseline_of(const struct judge_pair *pair)
{
    return (struct store_baseline){.name = pair->name,
                                   .build = pair->flags,
                                   .time_us = pair->time.median,
                                   .low_us = pair->time.low,
                                   .high_us = pair->time.high,
                                   .speedup = pair->speedup,
                                   .speedup_low = pair->low,
                                   .speedup_high = pair->high};
}

/* ---- what came of it ---- */

static bool
has_rival(const struct store_bench *bench)
{
    for (const char *const *name = bench_rival_names; *name != NULL; name++)
        if (bench_is_against(bench->against, *name))
            return true;
    return false;
}

static void
take_figures(struct work *work, const struct run_options *options, struct judge *judge,
             const struct run_result *result, const struct judge_case *timed)
{
    struct store_bench_task *row = &work->row;
    struct store_baseline *raced = NULL;
    size_t raced_count = 0;
    if (has_rival(work->bench) && !race(work, options, judge, result, &raced, &raced_count))
        return;
    struct store_baseline *all =
        arena_array(work->cli->arena, raced_count + timed->pair_count + 1, sizeof *all);
    row->time_us = timed->time.median;
    row->low_us = timed->time.low;
    row->high_us = timed->time.high;
    row->light = timed->share;
    row->light_us = timed->light.us;
    row->limited = timed->light.limit;
    for (size_t i = 0; i < raced_count; i++)
        all[row->baseline_count++] = raced[i];
    for (size_t i = 0; i < timed->pair_count; i++)
        all[row->baseline_count++] = baseline_of(&timed->pairs[i]);
    row->baselines = all;
    if (bench_is_against(work->bench->against, "naive") && timed->pair_count == 0 &&
        *row->reason == '\0')
        row->reason = "naive: the plain C fails, or takes too long";
}

static enum status
take(void *context, enum status status, const struct run_options *options, struct judge *judge,
     const struct run_result *result)
{
    struct work *work = context;
    struct store_bench_task *row = &work->row;
    const struct judge_case *timed =
        status == STATUS_OK ? judge_first_timed(&result->report) : NULL;
    row->evaluations = result->evaluations;
    row->run = options->store ? arena_strdup(work->cli->arena, options->run->name) : "";
    if (status == STATUS_NO) {
        row->status = judge_status_name[optimize_why(result, &row->reason)];
        return STATUS_OK;
    }
    row->status = judge_status_name[result->report.status];
    row->reason = result->report.reason;
    if (timed != NULL)
        take_figures(work, options, judge, result, timed);
    return STATUS_OK;
}

/* ---- the search ---- */

/* The first case is measured; those that are only checked are checked. */
static const char *
cases_of(struct arena *arena, struct lang *lang, struct diags *diags)
{
    struct buf names = buf_in(arena);
    buf_puts(&names, lang_case_name(lang, 0));
    for (size_t i = 1; i < lang_case_count(lang); i++) {
        struct program *program = lang_program(lang, i, NULL, 0, diags);
        if (program != NULL && program->check_only)
            buf_printf(&names, ",%s", lang_case_name(lang, i));
    }
    return names.data;
}

static enum status
set_up(struct work *work)
{
    struct cli *cli = work->cli, *search = &work->search;
    bench_as_search(cli, work->bench, work->row.recipe, search);
    search->diags = diags_create(cli->arena, 0);
    search->log = log_create(stderr, LOG_QUIET, LOG_COLOUR_NEVER);
    search->operands = arena_array(cli->arena, 1, sizeof *search->operands);
    search->operands[0] = work->row.path;
    search->operand_count = 1;
    struct lang *lang = lang_open(cli->arena, work->row.path, search->diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, search->diags) : NULL;
    if (program == NULL)
        return STATUS_INPUT;
    work->standby = bench_stand_by(cli->arena, work->bench->against, program);
    bench_set_case(search, cases_of(cli->arena, lang, search->diags));
    return diags_errors(search->diags) > 0 ? STATUS_INPUT : STATUS_OK;
}

static void
measure(struct work *work)
{
    struct store_bench_task *row = &work->row;
    struct optimize_taker taker = {.context = work,
                                   .alone = strcmp(row->recipe, "builtin") == 0,
                                   .no_naive = !bench_is_against(work->bench->against, "naive"),
                                   .progress = say,
                                   .take = take};
    struct optimize_job job = {.cli = &work->search, .taker = &taker};
    struct run_result result = {0};
    double began = clock_seconds();
    row->time_us = row->low_us = row->high_us = row->light = row->light_us = NAN;
    row->status = "";
    row->reason = row->run = row->limited = "";
    enum status status = set_up(work);
    if (status == STATUS_OK)
        status = optimize_do(&job, &result);
    if (status != STATUS_OK || *row->status == '\0') {
        row->status = BENCH_BROKEN;
        row->reason = first_message(work->cli->arena, work->search.diags);
    }
    bench_stand_down(work->standby);
    row->seconds = clock_seconds() - began;
    row->ended = clock_wall();
}

/* ---- the process ---- */

static enum status
find_row(struct cli *cli, const char *name, int64_t place, struct store_bench *bench,
         struct store_bench_task *row)
{
    struct store *store;
    struct store_bench_task *rows;
    size_t count = 0;
    enum status status = archive_need(cli, STORE_READ, &store);
    if (status == STATUS_OK)
        status = store_bench_find(store, cli->arena, name, bench, cli->diags);
    if (status == STATUS_OK)
        status = store_bench_tasks(store, cli->arena, bench->id, &rows, &count, cli->diags);
    store_close(store);
    if (status != STATUS_OK)
        return status;
    if (place < 0 || (size_t)place >= count)
        return cli_wrong(cli, "--only %lld: %s has %zu tasks, counted from 0", (long long)place,
                         bench->name, count);
    *row = rows[place];
    if (bench_is_done(row))
        return cli_wrong(cli, "--only %lld: this task of %s is done", (long long)place,
                         bench->name);
    return STATUS_OK;
}

enum status
bench_do_task(struct cli *cli, const char *name, int64_t place)
{
    struct store_bench bench;
    struct work work = {.cli = cli, .bench = &bench};
    struct store *store;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would want the result */
    enum status status = find_row(cli, name, place, &bench, &work.row);
    if (status != STATUS_OK)
        return status;
    measure(&work);
    status = archive_need(cli, STORE_WRITE, &store);
    if (status == STATUS_OK)
        status = store_bench_task_end(store, &work.row, cli->diags);
    store_close(store);
    return status;
}
