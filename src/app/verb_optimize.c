/* hone optimize: the fastest kernel that can be found, with proof. */
#include "app/config.h"
#include "app/optimize.h"
#include "app/schedule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/text.h"
#include "box/box.h"
#include "measure/measure.h"
#include "target/target.h"

/* ---- ^C ---- */

static volatile sig_atomic_t stop;

static void
on_interrupt(int number)
{
    (void)number;
    if (stop)
        _exit(130); /* the second time: at once */
    stop = 1;
    static const char said[] = "\nstopping after this one; again to stop at once\n";
    if (write(STDERR_FILENO, said, sizeof said - 1) < 0)
        return;
}

static void
catch_interrupt(void)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, NULL);
}

/* ---- options ---- */

static enum status
read_count(struct cli *cli, const char *name, unsigned usual, unsigned *count)
{
    const char *text = cli_given(cli, name);
    int64_t value;
    *count = usual;
    if (text == NULL)
        return STATUS_OK;
    if (!text_integer(text, &value) || value < 1 || value > 100000)
        return cli_wrong(cli, "--%s %s: write a number from 1 on", name, text);
    *count = (unsigned)value;
    return STATUS_OK;
}

/* "90", "90s", "2m", "1h" */
static enum status
read_seconds(struct cli *cli, double *seconds)
{
    const char *text = cli_given(cli, "time");
    char *end;
    *seconds = 0;
    if (text == NULL)
        return STATUS_OK;
    errno = 0;
    double value = strtod(text, &end);
    double unit = strcmp(end, "m") == 0 ? 60 : strcmp(end, "h") == 0 ? 3600 : 1;
    if (end == text || !(value > 0) || (*end && unit == 1 && strcmp(end, "s") != 0))
        return cli_wrong(cli, "--time %s: write seconds, or 2m, 1h", text);
    *seconds = value * unit;
    return STATUS_OK;
}

static enum status
read_until(struct cli *cli, double *light)
{
    const char *text = cli_given(cli, "until");
    char *end;
    *light = 0;
    if (text == NULL)
        return STATUS_OK;
    *light = strtod(text, &end);
    if (end == text || *end || !(*light > 0) || *light > 1)
        return cli_wrong(cli, "--until %s: write a share of the speed of light, 0.9", text);
    return STATUS_OK;
}

static enum status
read_random_seed(struct cli *cli, uint64_t *seed)
{
    const char *text = cli_given(cli, "seed");
    char *end;
    *seed = 1;
    if (text == NULL)
        return STATUS_OK;
    errno = 0;
    *seed = strtoull(text, &end, 16);
    if (end == text || *end || errno)
        return cli_wrong(cli, "--seed %s: write a hexadecimal number", text);
    return STATUS_OK;
}

/* The file is tried before the work, not after. */
static enum status
check_output(struct cli *cli, const char *path)
{
    const char *folder = file_folder_of(cli->arena, path);
    if (access(path, F_OK) == 0 ? access(path, W_OK) == 0 : access(folder, W_OK) == 0)
        return STATUS_OK;
    return cli_wrong(cli, "-o %s: cannot be written: %s; name another place", path,
                     strerror(errno));
}

static void
read_machine(struct cli *cli, struct coder_machine *machine, const char **key)
{
    struct measure_facts facts;
    schedule_machine(cli->arena, machine, &facts);
    *key = arena_printf(cli->arena, "%s %s %u bits", facts.cpu, facts.family ? facts.family : "",
                        facts.vector_bits);
}

/* ---- the archive ---- */

/* Without an archive the work is done all the same. */
static void
open_archive(struct cli *cli, struct run_options *options, struct store_run *run)
{
    struct diags *ours = diags_create(cli->arena, 4);
    const char *path = cli->config->values[CONFIG_ARCHIVE].text;
    struct store_options how = {.access = STORE_WRITE, .program = "hone", .now = clock_wall()};
    struct program *program = lang_program(options->lang, options->cases[0], NULL, 0, ours);
    struct buf canonical = buf_in(cli->arena);
    if (path == NULL || program == NULL ||
        store_open(path, &how, &options->store, ours) != STATUS_OK) {
        options->store = NULL;
        if (diags_count(ours) > 0)
            log_warning(&cli->log, "nothing is recorded: %s", diags_get(ours, 0)->message);
        return;
    }
    lang_canonical(&canonical, program);
    *run = (struct store_run){.task = {.hash = lang_hash(cli->arena, program),
                                       .name = lang_name(options->lang),
                                       .canonical = canonical.data},
                              .target = options->target->name,
                              .recipe = "builtin",
                              .machine_key = options->machine_key,
                              .seed = options->seed,
                              .started = clock_wall()};
    run->task.family = run->task.hash;
    options->family = run->task.hash;
    options->run = run;
    if (store_run_begin(options->store, run, ours) != STATUS_OK) {
        log_warning(&cli->log, "nothing is recorded: %s",
                    diags_count(ours) ? diags_get(ours, 0)->message : "no run");
        store_close(options->store);
        options->store = NULL;
    }
}

static void
close_archive(struct cli *cli, struct run_options *options, const struct run_result *result)
{
    if (options->store == NULL)
        return;
    bool stopped = result->stopped != NULL && strcmp(result->stopped, "you") == 0;
    store_run_finish(options->store, options->run->id, stopped ? STORE_STOPPED : STORE_DONE,
                     result->stopped ? result->stopped : "", -1, clock_wall(), cli->diags);
    store_close(options->store);
}

/* ---- the verb ---- */

static enum status
read_options(struct cli *cli, struct run_options *options)
{
    enum status status = read_count(cli, "evals", 0, &options->evaluations);
    if (status == STATUS_OK)
        status = read_count(cli, "patience", 24, &options->patience);
    if (status == STATUS_OK)
        status = read_seconds(cli, &options->seconds);
    if (status == STATUS_OK)
        status = read_until(cli, &options->until_light);
    if (status == STATUS_OK)
        status = read_random_seed(cli, &options->seed);
    if (status == STATUS_OK)
        status = config_threads(cli, &options->threads);
    return status;
}

static enum status
show(struct cli *cli, const struct run_options *options, const struct run_result *result,
     const char *file)
{
    const char *task = lang_name(options->lang), *run = options->store ? options->run->name : NULL;
    enum status status = file_write(file, result->kernel, strlen(result->kernel), cli->diags);
    if (status != STATUS_OK)
        return status;
    if (cli->json)
        optimize_json(&cli->out, task, result, file, run);
    else
        optimize_screen(&cli->out, task, result, file, run);
    return STATUS_OK;
}

/* Why there is nothing to give. */
static void
say_why(struct cli *cli, const struct run_result *result)
{
    const char *last = "nothing was tried";
    for (size_t i = 0; i < result->case_count; i++)
        if (result->cases[i].schedule == NULL && result->cases[i].tried_count > 0)
            last = result->cases[i].tried[result->cases[i].tried_count - 1].reason;
    if (result->kernel != NULL)
        last = result->report.reason;
    log_warning(&cli->log, "no correct kernel was found in %u evaluations; the last said: %s",
                result->evaluations, last);
}

enum status
verb_optimize(struct cli *cli)
{
    struct run_options options = {.target = target_find("cpu"), .stop = &stop};
    struct run_result result = {0};
    struct store_run run;
    struct judge *judge = NULL;
    size_t *cases;
    enum status status = read_options(cli, &options);
    if (status != STATUS_OK)
        return status;
    options.lang = lang_open(cli->arena, cli->operands[0], cli->diags);
    if (options.lang == NULL)
        return STATUS_INPUT;
    status =
        cli_cases(cli, options.lang, lang_case_count(options.lang), &cases, &options.case_count);
    const char *file = cli_given(cli, "o");
    if (file == NULL)
        file = arena_printf(cli->arena, "%s.c", lang_name(options.lang));
    if (status == STATUS_OK)
        status = check_output(cli, file);
    if (status != STATUS_OK)
        return status;
    options.cases = cases;
    if (options.evaluations == 0)
        options.evaluations = 40;
    read_machine(cli, &options.machine, &options.machine_key);
    if (options.threads > 0)
        options.machine.threads = options.threads;
    options.machine_key =
        arena_printf(cli->arena, "%s, %u threads", options.machine_key, options.machine.threads);
    struct optimize_view view = {cli, lang_name(options.lang), options.machine.threads};
    options.progress = optimize_progress;
    options.context = &view;
    struct judge_options how = {.require_sandbox = cli_given(cli, "require-sandbox") != NULL};
    status = judge_open(&how, &judge, cli->diags);
    if (status != STATUS_OK)
        return status;
    open_archive(cli, &options, &run);
    catch_interrupt();
    status = run_optimize(cli->arena, judge, &options, &result, cli->diags);
    log_progress_done(&cli->log);
    if (status == STATUS_OK)
        status = show(cli, &options, &result, file);
    else if (status == STATUS_NO)
        say_why(cli, &result);
    close_archive(cli, &options, &result);
    judge_close(judge);
    return status;
}
