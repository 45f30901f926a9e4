/* hone judge: is a kernel right, and how fast is it really. */
#include "app/config.h"
#include "app/judge.h"
#include "app/task.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

/* One use of the verb. */
struct session {
    struct cli *cli;
    struct lang *lang;
    const struct target *target;
    struct judge *judge;
    struct judge_task *task;
    struct trial *trials;
    size_t trial_count;
    struct judge_kernel **baselines;
    size_t baseline_count;
};

/* ---- options ---- */

static enum status
read_seed(struct cli *cli, struct judge_setup *setup)
{
    const char *text = cli_given(cli, "seed");
    char *end;
    if (text == NULL)
        return STATUS_OK;
    setup->seed = strtoull(text, &end, 16);
    if (*text == 0 || *end != 0 || strlen(text) > 8 || strpbrk(text, "+-xX"))
        return cli_wrong(cli, "--seed %s: write the eight hex digits of a verdict, as in 5d2a91c4",
                         text);
    setup->seeded = true;
    return STATUS_OK;
}

static enum status
read_effort(struct cli *cli, struct judge_setup *setup)
{
    const char *text = cli_given(cli, "effort");
    setup->effort = JUDGE_NORMAL;
    if (text == NULL)
        return STATUS_OK;
    for (unsigned i = 0; i < JUDGE_EFFORT_COUNT; i++)
        if (!strcmp(text, judge_effort_name[i])) {
            setup->effort = (enum judge_effort)i;
            return STATUS_OK;
        }
    return cli_wrong(cli, "--effort %s: write quick or normal", text);
}

static enum status
read_target(struct cli *cli, const struct target **target)
{
    const char *name = cli_given(cli, "target");
    *target = target_find(name ? name : "cpu");
    if (*target != NULL)
        return STATUS_OK;
    return cli_wrong(cli, "--target %s: no such target; `hone contract` lists them", name);
}

/* ---- files ---- */

static enum status
read_kernels(struct session *session)
{
    struct cli *cli = session->cli;
    session->trial_count = cli->operand_count - 1;
    session->trials = arena_array(cli->arena, session->trial_count, sizeof *session->trials);
    for (size_t i = 0; i < session->trial_count; i++) {
        struct trial *trial = &session->trials[i];
        trial->file = cli->operands[i + 1];
        enum status status = file_read(cli->arena, trial->file, session->target->limits.text_bytes,
                                       &trial->source, cli->diags);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* A baseline must be right itself; anything else is the caller's mistake. */
static enum status
add_baseline(struct session *session, const char *file)
{
    struct cli *cli = session->cli;
    struct source source;
    struct judge_report report;
    struct judge_kernel *kernel;
    enum status status =
        file_read(cli->arena, file, session->target->limits.text_bytes, &source, cli->diags);
    if (status == STATUS_OK)
        status = judge_build(session->task, cli->arena, file, source.text, source.length, &kernel,
                             &report, cli->diags);
    if (status != STATUS_OK)
        return status;
    if (kernel != NULL) {
        session->baselines[session->baseline_count++] = kernel;
        status = judge_check(session->task, cli->arena, kernel, 0, &report, cli->diags);
    }
    if (status != STATUS_OK || report.status == JUDGE_BUILT)
        return status;
    return cli_wrong(cli, "--baseline %s: %s: %s; a baseline must be correct", file,
                     judge_status_name[report.status], report.reason);
}

/* The list of --baseline without naive, which is an option of the task. */
static enum status
add_baselines(struct session *session)
{
    struct cli *cli = session->cli;
    const char *list = cli_given(cli, "baseline");
    char *next = list ? arena_strdup(cli->arena, list) : NULL;
    enum status status = STATUS_OK;
    session->baselines =
        arena_array(cli->arena, list ? strlen(list) + 1 : 1, sizeof *session->baselines);
    for (char *name = strsep(&next, ","); name && status == STATUS_OK; name = strsep(&next, ","))
        if (strcmp(name, "naive") != 0 && *name)
            status = add_baseline(session, name);
    return status;
}

static bool
names_naive(struct cli *cli)
{
    const char *list = cli_given(cli, "baseline");
    char *next = list ? arena_strdup(cli->arena, list) : NULL;
    for (char *name = strsep(&next, ","); name; name = strsep(&next, ","))
        if (!strcmp(name, "naive"))
            return true;
    return list == NULL;
}

/* ---- --keep ---- */

static const struct judge_case *
failing_case(const struct judge_report *report)
{
    for (size_t i = 0; report->case_name && i < report->case_count; i++)
        if (!strcmp(report->cases[i].program->case_name, report->case_name))
            return &report->cases[i];
    return NULL;
}

/* The inputs that first showed it, as `hone task --eval --inputs` reads them. */
static enum status
keep_inputs(struct cli *cli, const char *folder, const struct program *program,
            const struct judge_wrong *wrong)
{
    enum status status = file_make_folder(folder, cli->diags);
    for (size_t i = 0; i < program->input_count && status == STATUS_OK; i++) {
        const struct tensor *tensor = program->tensors[i];
        size_t count = (size_t)tensor->count;
        void *data = arena_array(cli->arena, count, dtype_info[tensor->dtype].size);
        double *values = arena_array(cli->arena, count, sizeof *values);
        task_draw(program, i, wrong->kind, wrong->draw_seed, data);
        for (size_t at = 0; at < count; at++)
            values[at] = dtype_element(tensor->dtype, data, (int64_t)at);
        status = task_write_array(cli, folder, arena_printf(cli->arena, "%s.npy", tensor->name),
                                  tensor, values);
    }
    return status;
}

/* Our headers that the kernel includes: what is kept can be compiled where it lies. */
static enum status
keep_headers(struct cli *cli, const char *folder, const struct target *target,
             const struct target_kernel *kernel)
{
    enum status status = STATUS_OK;
    const struct target_file *file = target->files;
    for (; file && file->name && status == STATUS_OK; file++)
        if (target_includes(kernel, file->name))
            status = file_write(file_join(cli->arena, folder, file->name), file->text,
                                strlen(file->text), cli->diags);
    return status;
}

static enum status
keep_trial(struct session *session, const char *folder, const struct trial *trial)
{
    struct cli *cli = session->cli;
    const char *slash = strrchr(trial->file, '/');
    const char *name = slash ? slash + 1 : trial->file;
    const struct judge_case *failing = failing_case(&trial->report);
    struct target_kernel read;
    struct target_fault fault;
    struct buf json = buf_in(cli->arena);
    judge_json(&json, lang_name(session->lang), session->target->name, trial);
    buf_putc(&json, '\n');
    enum status status =
        file_write(file_join(cli->arena, folder, arena_printf(cli->arena, "%s.json", name)),
                   json.data, json.length, cli->diags);
    for (size_t i = 0; i < trial->report.case_count && status == STATUS_OK; i++) {
        const struct program *program = trial->report.cases[i].program;
        struct buf text = buf_in(cli->arena);
        if ((failing && failing->program != program) ||
            !target_read(cli->arena, session->target, program, trial->source.text,
                         trial->source.length, &read, &fault))
            continue;
        target_source(&text, session->target, program, name, &read);
        status = keep_headers(cli, folder, session->target, &read);
        if (status != STATUS_OK)
            break;
        status = file_write(file_join(cli->arena, folder,
                                      arena_printf(cli->arena, "%.*s.%s.c", (int)strcspn(name, "."),
                                                   name, program->case_name)),
                            text.data, text.length, cli->diags);
    }
    if (status == STATUS_OK && failing && trial->report.wrong.tensor)
        status = keep_inputs(
            cli, file_join(cli->arena, folder, arena_printf(cli->arena, "%s.inputs", name)),
            failing->program, &trial->report.wrong);
    return status;
}

static enum status
keep_all(struct session *session)
{
    const char *folder = cli_given(session->cli, "keep");
    enum status status = folder ? file_make_folder(folder, session->cli->diags) : STATUS_OK;
    for (size_t i = 0; folder && i < session->trial_count && status == STATUS_OK; i++)
        status = keep_trial(session, folder, &session->trials[i]);
    return status;
}

/* ---- verdicts ---- */

/* Kernels that are to be ranked stay open. */
static enum status
judge_one(struct session *session, struct trial *trial)
{
    return judge_verdict(session->task, session->cli->arena, trial->file, trial->source.text,
                         trial->source.length, session->baselines, session->baseline_count,
                         &trial->kernel, &trial->report, session->cli->diags);
}

static size_t
timed_case(const struct judge_report *report)
{
    for (size_t i = 0; i < report->case_count; i++)
        if (report->cases[i].timed)
            return i;
    return report->case_count;
}

static int
faster_first(const void *a, const void *b)
{
    const struct standing *x = a, *y = b;
    size_t c = timed_case(&x->trial->report);
    if (c == x->trial->report.case_count)
        return 0;
    double s = x->trial->report.cases[c].time.median, t = y->trial->report.cases[c].time.median;
    return (s > t) - (s < t);
}

/* A kernel that does something else when it is compared than when it was judged. */
static void
unmask(struct session *session, const struct judge_kernel *failed)
{
    for (size_t i = 0; i < session->trial_count; i++)
        if (session->trials[i].kernel == failed) {
            session->trials[i].report.status = JUDGE_CHEATED;
            session->trials[i].report.reason =
                "right when it was judged, not when it was compared with another";
        }
}

static size_t
collect(struct session *session, struct standing *standings)
{
    size_t count = 0;
    for (size_t i = 0; i < session->trial_count; i++)
        if (session->trials[i].report.status == JUDGE_CORRECT)
            standings[count++] = (struct standing){.trial = &session->trials[i]};
    qsort(standings, count, sizeof *standings, faster_first);
    return count;
}

/* In the first case: each against the one that seems best. One that turns out faster takes its
 * place, and one that fails drops out; then all is done again, which the sorting makes rare. */
static enum status
rank(struct session *session, struct standing *standings, size_t *count)
{
    struct cli *cli = session->cli;
    *count = collect(session, standings);
    for (size_t i = 1; i < *count; i++) {
        size_t number = timed_case(&standings[0].trial->report);
        struct judge_kernel *failed = NULL;
        if (number == standings[0].trial->report.case_count)
            return STATUS_OK;
        enum status status =
            judge_compare(session->task, standings[0].trial->kernel, standings[i].trial->kernel,
                          number, NULL, &standings[i].against_best, &failed, cli->diags);
        if (status != STATUS_OK)
            return status;
        if (failed != NULL) {
            unmask(session, failed);
            *count = collect(session, standings);
            i = 0;
        } else if (standings[i].against_best.verdict == MEASURE_FASTER) {
            struct standing best = standings[i];
            memmove(standings + 1, standings, i * sizeof *standings);
            standings[0] = best;
            i = 0;
        }
    }
    return STATUS_OK;
}

static enum status
show(struct session *session)
{
    struct cli *cli = session->cli;
    struct standing *standings = arena_array(cli->arena, session->trial_count, sizeof *standings);
    size_t correct = collect(session, standings);
    enum status status = STATUS_OK;
    if (cli->json) {
        for (size_t i = 0; i < session->trial_count; i++) {
            judge_json(&cli->out, lang_name(session->lang), session->target->name,
                       &session->trials[i]);
            buf_putc(&cli->out, '\n');
        }
    } else if (session->trial_count == 1) {
        judge_screen(&cli->out, cli->operands[0], &session->trials[0], cli->verbosity);
    } else {
        status = rank(session, standings, &correct);
        if (status == STATUS_OK)
            judge_ranking(&cli->out, cli->operands[0], standings, correct, session->trials,
                          session->trial_count);
    }
    if (status != STATUS_OK)
        return status;
    return correct == session->trial_count ? STATUS_OK : STATUS_NO;
}

/* ---- the verb ---- */

static enum status
open_task(struct session *session, struct judge_setup *setup, bool require_sandbox)
{
    struct cli *cli = session->cli;
    struct judge_options options = {.require_sandbox = require_sandbox, .log = &cli->log};
    enum status status = judge_open(&options, &session->judge, cli->diags);
    if (status != STATUS_OK)
        return status;
    setup->lang = session->lang;
    setup->target = session->target;
    return judge_task_open(session->judge, setup, &session->task, cli->diags);
}

static enum status
open_session(struct session *session)
{
    struct cli *cli = session->cli;
    struct judge_setup setup = {0};
    size_t *cases;
    enum status status = read_target(cli, &session->target);
    if (status == STATUS_OK)
        status = read_seed(cli, &setup);
    if (status == STATUS_OK)
        status = config_threads(cli, &setup.threads);
    if (status == STATUS_OK)
        status = read_effort(cli, &setup);
    if (status == STATUS_OK)
        status = read_kernels(session);
    if (status != STATUS_OK)
        return status;
    session->lang = lang_open(cli->arena, cli->operands[0], cli->diags);
    if (session->lang == NULL)
        return STATUS_INPUT;
    status =
        cli_cases(cli, session->lang, lang_case_count(session->lang), &cases, &setup.case_count);
    if (status != STATUS_OK)
        return status;
    setup.cases = cases;
    setup.no_baseline = !names_naive(cli);
    status = open_task(session, &setup, cli_given(cli, "require-sandbox") != NULL);
    return status == STATUS_OK ? add_baselines(session) : status;
}

static void
close_session(struct session *session)
{
    for (size_t i = 0; i < session->baseline_count; i++)
        judge_kernel_close(session->baselines[i]);
    for (size_t i = 0; i < session->trial_count; i++)
        judge_kernel_close(session->trials[i].kernel);
    judge_task_close(session->task);
    judge_close(session->judge);
}

enum status
verb_judge(struct cli *cli)
{
    struct session session = {.cli = cli};
    enum status status = open_session(&session);
    for (size_t i = 0; i < session.trial_count && status == STATUS_OK; i++)
        status = judge_one(&session, &session.trials[i]);
    if (status == STATUS_OK)
        status = keep_all(&session);
    if (status == STATUS_OK)
        status = show(&session);
    log_progress_done(&cli->log);
    close_session(&session);
    return status;
}

enum status
judge_text(struct cli *cli, struct lang *lang, size_t number, const char *file, const char *text,
           size_t length)
{
    struct trial trial = {.file = file, .source = {file, text, length}};
    struct session session = {
        .cli = cli, .lang = lang, .target = target_find("cpu"), .trials = &trial, .trial_count = 1};
    struct judge_setup setup = {.cases = &number, .case_count = 1, .effort = JUDGE_NORMAL};
    enum status status = open_task(&session, &setup, false);
    if (status == STATUS_OK)
        status = judge_one(&session, &trial);
    if (status == STATUS_OK)
        status = show(&session);
    log_progress_done(&cli->log);
    close_session(&session);
    return status;
}
