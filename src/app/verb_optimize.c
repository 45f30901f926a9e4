/* hone optimize: the fastest kernel that can be found, with proof. */
#include "app/config.h"
#include "app/optimize.h"
#include "app/schedule.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
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

/* ---- before the work ---- */

#define LARGEST_KERNEL (16 << 20)

/* A file is replaced by a new one beside it; a device or a pipe is written. */
enum status
optimize_check_output(struct cli *cli, const char *path)
{
    const char *folder = file_folder_of(cli->arena, path);
    struct stat facts;
    bool there = stat(path, &facts) == 0;
    if (there && S_ISDIR(facts.st_mode))
        return cli_wrong(cli, "-o %s: it is a folder; name a file in it", path);
    if ((!there || access(path, W_OK) == 0) &&
        ((there && !S_ISREG(facts.st_mode)) || access(folder, W_OK) == 0))
        return STATUS_OK;
    return cli_wrong(cli, "-o %s: cannot be written: %s; name another place", path,
                     strerror(errno));
}

/* What somebody wrote is not lost because nobody said where the kernel should go: only a file of
 * ours is replaced unasked, and never the task or the kernel that it begins with. */
static enum status
check_overwriting(struct cli *cli, const struct run_options *options, const char *path)
{
    struct source source = {0};
    struct run_start old;
    const char *inputs[] = {cli->operands[0], options->start ? options->start->file : NULL};
    struct stat facts, input;
    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode))
        return STATUS_OK;
    for (size_t i = 0; i < 2; i++)
        if (inputs[i] != NULL && stat(inputs[i], &input) == 0 && input.st_ino == facts.st_ino &&
            input.st_dev == facts.st_dev)
            return cli_wrong(cli, "%s is what it begins with; write -o OTHER.c", path);
    if (cli_given(cli, "o") != NULL || file_read(cli->arena, path, LARGEST_KERNEL, &source,
                                                 diags_create(cli->arena, 1)) != STATUS_OK)
        return STATUS_OK;
    run_start_read(cli->arena, &source, &old);
    return old.line_count > 0 || strstr(source.text, "HONE_MAIN")
               ? STATUS_OK
               : cli_wrong(cli,
                           "%s is there already and not of hone's making; write -o OTHER.c, or "
                           "-o %s to replace it",
                           path, path);
}

/* How many threads are meant is known after the options were read. */
const char *
optimize_machine_key(struct arena *arena, const struct measure_facts *facts,
                     const struct coder_machine *how)
{
    return arena_printf(arena, "%s %s %u bits, %u threads", facts->cpu,
                        facts->family ? facts->family : "", how->vector_bytes * 8, how->threads);
}

/* ---- the archive ---- */

/* "default R=1024 N=4096; tail R=37 N=1009" */
static const char *
cases_text(struct cli *cli, const struct run_options *options)
{
    struct buf text = buf_in(cli->arena);
    for (size_t i = 0; i < options->case_count; i++) {
        struct program *program =
            lang_program(options->lang, options->cases[i], NULL, 0, diags_create(cli->arena, 1));
        buf_printf(&text, "%s%s", i ? "; " : "", lang_case_name(options->lang, options->cases[i]));
        for (size_t d = 0; program != NULL && d < program->dim_count; d++)
            buf_printf(&text, " %s=%lld", program->dims[d].name, (long long)program->dims[d].size);
    }
    return text.data;
}

static const char *
budget_json(struct arena *arena, const struct run_options *options)
{
    struct buf json = buf_in(arena);
    buf_printf(&json, "{\"evaluations\":%u,\"patience\":%u", options->evaluations,
               options->patience);
    json_field_number(&json, "seconds", options->seconds > 0 ? options->seconds : NAN);
    json_field_number(&json, "until_light", options->until_light > 0 ? options->until_light : 0.95);
    json_field_number(&json, "until_gain", options->until_gain > 0 ? options->until_gain : NAN);
    json_field_bool(&json, "deterministic", options->deterministic);
    json_field_string(&json, "flags", options->flags);
    buf_putc(&json, '}');
    return json.data;
}

/* The command line, so that `hone resume` needs nothing else. */
static const char *
options_json(const struct cli *cli)
{
    struct buf json = buf_in(cli->arena);
    const char *before = "";
    buf_puts(&json, "{\"operand\":");
    json_put_string(&json, cli->operands[0]);
    buf_puts(&json, ",\"options\":{");
    for (size_t i = 0; cli->verb->options[i].name != NULL || cli->verb->options[i].letter; i++) {
        const struct option *option = &cli->verb->options[i];
        if (cli->given[i] == NULL)
            continue;
        buf_puts(&json, before);
        json_put_string(&json, option->name ? option->name : (char[]){option->letter, 0});
        buf_putc(&json, ':');
        json_put_string(&json, cli->given[i]);
        before = ",";
    }
    buf_puts(&json, "}}");
    return json.data;
}

const char *
optimize_machine_json(struct arena *arena, const struct measure_facts *facts,
                      const struct coder_machine *machine)
{
    struct buf json = buf_in(arena);
    buf_puts(&json, "{\"cpu\":");
    json_put_string(&json, facts->cpu);
    json_field_string(&json, "family", facts->family);
    buf_printf(&json, ",\"threads\":%u,\"vector_bits\":%u,\"vector_registers\":%u",
               machine->threads, machine->vector_bytes * 8, machine->registers);
    buf_printf(&json, ",\"l1\":%lld,\"l2\":%lld,\"l3\":%lld", (long long)machine->l1,
               (long long)machine->l2, (long long)machine->l3);
    json_field_number(&json, "gflops", machine->gflops > 0 ? machine->gflops : NAN);
    json_field_number(&json, "memory_gbs", machine->memory_gbs > 0 ? machine->memory_gbs : NAN);
    json_field_number(&json, "memory_gbs_all",
                      machine->memory_gbs_all > 0 ? machine->memory_gbs_all : NAN);
    buf_putc(&json, '}');
    return json.data;
}

/* "anthropic:X", "builtin" for stand-ins; NULL: none. */
static const char *
model_text(const struct cli *cli, const struct run_options *options)
{
    struct buf text = buf_in(cli->arena);
    if (options->team == NULL)
        return NULL;
    for (size_t i = 0; i < options->team->model_count; i++)
        buf_printf(&text, "%s%s", i ? "," : "", llm_facts(options->team->models[i].model).text);
    return options->team->model_count > 0 ? text.data : "builtin";
}

/* Without an archive the work is done all the same; but what models are paid for must be kept. */
static enum status
do_without(struct cli *cli, struct run_options *options, const struct diags *why)
{
    const char *message = diags_count(why) > 0 ? diags_get(why, 0)->message : "there is no archive";
    options->store = NULL;
    if (options->team != NULL && options->team->llm != NULL) {
        diags_add(cli->diags, DIAG_ERROR, (struct place){0},
                  "%s; replies that are paid for must be kept: nothing was asked", message);
        return STATUS_MACHINE;
    }
    log_warning(&cli->log, "nothing is recorded: %s", message);
    return STATUS_OK;
}

static enum status
open_archive(struct cli *cli, struct run_options *options, const struct measure_facts *facts,
             struct store_run *run)
{
    struct diags *ours = diags_create(cli->arena, 4);
    const char *path = cli->config->values[CONFIG_ARCHIVE].text;
    struct store_options how = {.access = STORE_WRITE, .program = "hone", .now = clock_wall()};
    struct program *program = lang_program(options->lang, options->cases[0], NULL, 0, ours);
    struct buf canonical = buf_in(cli->arena);
    struct source source;
    if (path == NULL || program == NULL ||
        store_open(path, &how, &options->store, ours) != STATUS_OK)
        return do_without(cli, options, ours);
    lang_canonical(&canonical, program);
    if (file_read(cli->arena, cli->operands[0], LANG_MAX_FILE, &source, ours) != STATUS_OK)
        source.text = NULL; /* it has gone since it was parsed */
    *run =
        (struct store_run){.task = {.hash = lang_hash(cli->arena, program),
                                    .name = lang_name(options->lang),
                                    .canonical = canonical.data,
                                    .source = source.text},
                           .target = options->target->name,
                           .recipe = options->team ? options->team->recipe->name : "builtin",
                           .recipe_text = options->team ? options->team->recipe->text : NULL,
                           .model = model_text(cli, options),
                           .options = options_json(cli),
                           .cases = cases_text(cli, options),
                           .budget = budget_json(cli->arena, options),
                           .machine = optimize_machine_json(cli->arena, facts, &options->machine),
                           .machine_key = options->machine_key,
                           .seed = options->seed,
                           .started = clock_wall()};
    run->task.family = options->family = run_family(cli->arena, program);
    options->run = run;
    if (store_run_begin(options->store, run, ours) == STATUS_OK)
        return STATUS_OK;
    store_close(options->store);
    return do_without(cli, options, ours);
}

static void
close_archive(struct cli *cli, struct run_options *options, const struct run_result *result)
{
    if (options->store == NULL)
        return;
    /* what ended without a word may go on */
    bool stopped = result->stopped == NULL || strcmp(result->stopped, "you") == 0;
    store_run_finish(options->store, options->run->id, stopped ? STORE_STOPPED : STORE_DONE,
                     result->stopped ? result->stopped : "", result->number, clock_wall(),
                     cli->diags);
    store_close(options->store);
}

/* ---- the verb ---- */

static enum status
show(struct cli *cli, const struct run_options *options, const struct run_result *result,
     const char *file)
{
    struct optimize_result shown = {.task = lang_name(options->lang),
                                    .file = file,
                                    .run = options->store ? options->run->name : NULL,
                                    .recipe =
                                        options->team ? options->team->recipe->name : "builtin",
                                    .model = model_text(cli, options),
                                    .options = options,
                                    .result = result};
    enum status status = file_write(file, result->kernel, strlen(result->kernel), cli->diags);
    if (status != STATUS_OK)
        return status;
    if (cli->json)
        optimize_json(&cli->out, &shown);
    else
        optimize_screen(&cli->out, &shown);
    return STATUS_OK;
}

enum judge_status
optimize_why(const struct run_result *result, const char **why)
{
    enum judge_status status = JUDGE_WRONG;
    *why = "nothing was tried";
    for (size_t i = 0; i < result->case_count && result->cases != NULL; i++)
        for (size_t k = 0; k < result->cases[i].tried_count; k++)
            if (result->cases[i].tried[k].status != JUDGE_CORRECT) {
                status = result->cases[i].tried[k].status;
                *why = result->cases[i].tried[k].reason;
            }
    if (result->kernel == NULL)
        return status;
    if (result->report.status != JUDGE_CORRECT) {
        *why = result->report.reason;
        return result->report.status;
    }
    *why = "bits differ from call to call";
    return JUDGE_WRONG;
}

static void
say_why(struct cli *cli, const struct run_options *options, const struct run_result *result)
{
    const struct llm_budget *budget = options->team ? options->team->budget : NULL;
    const char *limit = budget ? llm_budget_reached(budget) : NULL;
    const char *last;
    optimize_why(result, &last);
    if (limit != NULL && result->evaluations == 0) /* nobody could be asked */
        last =
            arena_printf(cli->arena, "the limit on %s is reached; --%s N raises it", limit, limit);
    log_warning(&cli->log, "no correct kernel was found in %u evaluations; the last said: %s",
                result->evaluations, last);
}

/* Somebody's kernel that is not right is not lost sight of because the search found others. */
static void
warn_of_start(struct cli *cli, const struct run_start *start, const struct run_result *result)
{
    for (size_t i = 0; start != NULL && result->cases != NULL && i < result->case_count; i++) {
        const struct run_case *of = &result->cases[i];
        for (size_t k = 0; k < of->tried_count; k++)
            if (of->tried[k].schedule == NULL && of->tried[k].status != JUDGE_CORRECT)
                log_warning(&cli->log, "--start %s: %s in case %s: %s; hone judge shows more",
                            start->file, judge_status_name[of->tried[k].status],
                            of->program->case_name, of->tried[k].reason);
    }
}

/* The file, its cases, the place for the result. A run that goes on has its program in the archive.
 */
static enum status
open_task(struct cli *cli, const struct store_run *of, struct run_options *options,
          const char **file)
{
    size_t *cases;
    const char *path = cli->operands[0];
    options->lang = of != NULL ? lang_parse(cli->arena, path, of->task.source,
                                            strlen(of->task.source), cli->diags)
                               : lang_open(cli->arena, path, cli->diags);
    if (options->lang == NULL)
        return STATUS_INPUT;
    enum status status =
        cli_cases(cli, options->lang, lang_case_count(options->lang), &cases, &options->case_count);
    options->cases = cases;
    struct program *first =
        status == STATUS_OK ? lang_program(options->lang, cases[0], NULL, 0, cli->diags) : NULL;
    if (first == NULL)
        return STATUS_INPUT;
    if (first->foreign != NULL)
        return cli_wrong(cli,
                         "%s: it has a reference in C and no stages to schedule; write it in "
                         "the tensor language",
                         path);
    *file = cli_given(cli, "o");
    if (*file == NULL)
        *file = arena_printf(cli->arena, "%s.c", lang_name(options->lang));
    return STATUS_OK;
}

static enum status
open_judge(struct cli *cli, const struct run_options *options, struct judge **judge)
{
    struct judge_options how = {.require_sandbox = cli_given(cli, "require-sandbox") != NULL};
    enum status status = judge_open(&how, judge, cli->diags);
    if (status != STATUS_OK)
        return status;
    return judge_fits(*judge,
                      &(struct judge_setup){.lang = options->lang,
                                            .cases = options->cases,
                                            .case_count = options->case_count,
                                            .target = options->target},
                      cli->diags);
}

/* Where the run is kept: begun, or gone on with. */
static enum status
open_run(struct optimize_job *job, struct run_options *options, const struct measure_facts *facts,
         struct store_run *run)
{
    if (job->earlier == NULL)
        return open_archive(job->cli, options, facts, run);
    *run = *job->earlier;
    options->store = job->store;
    options->run = run;
    options->machine_key = run->machine_key;
    options->family = run->task.family;
    return job->mode == RUN_RESUME ? store_run_resume(job->store, run->id, job->cli->diags)
                                   : STATUS_OK;
}

static double
wall(void *context)
{
    (void)context;
    return clock_seconds();
}

static enum status
carry_out(struct optimize_job *job, struct run_options *options, struct judge *judge,
          struct run_result *result)
{
    struct run_judge nobody = {.seconds = wall}; /* a replay asks no judge */
    if (job->mode == RUN_REPLAY)
        return run_optimize_by(job->cli->arena, &nobody, options, result, job->cli->diags);
    if (job->taker == NULL)
        catch_interrupt();
    return run_optimize(job->cli->arena, judge, options, result, job->cli->diags);
}

/* The result goes to whoever wants it, else to the screen and the file. */
static enum status
deliver(const struct optimize_job *job, enum status status, const struct run_options *options,
        struct judge *judge, const struct run_result *result, const char *file)
{
    struct cli *cli = job->cli;
    if (job->taker != NULL)
        return status == STATUS_OK || status == STATUS_NO
                   ? job->taker->take(job->taker->context, status, options, judge, result)
                   : status;
    warn_of_start(cli, options->start, result);
    if (status == STATUS_OK)
        return show(cli, options, result, file);
    if (status == STATUS_NO)
        say_why(cli, options, result);
    return status;
}

/* Who proposes besides the built-in search, if anybody does. */
static enum status
open_team(const struct optimize_job *job, struct run_options *options, struct optimize_team *team)
{
    const struct config *config;
    if (job->taker != NULL && job->taker->alone)
        return config_read(job->cli, &config);
    return optimize_open_team(job->cli, job->earlier, options, team);
}

/* Who says neither how much nor how long gets the best of a minute; models take theirs. */
static void
limit_time(const struct cli *cli, struct run_options *options)
{
    enum { USUAL_SECONDS = 60 };
    if (options->team == NULL && cli_given(cli, "evals") == NULL &&
        cli_given(cli, "time") == NULL && cli_given(cli, "effort") == NULL)
        options->seconds = USUAL_SECONDS;
}

enum status
optimize_do(struct optimize_job *job, struct run_result *result)
{
    struct cli *cli = job->cli;
    struct run_options options = {.target = target_find("cpu"), .stop = &stop, .mode = job->mode};
    struct optimize_team team = {0};
    struct measure_facts facts;
    struct store_run run;
    struct judge *judge = NULL;
    const char *file = NULL;
    schedule_machine(cli->arena, &options.machine, &facts);
    enum status status = optimize_read_options(cli, &options);
    if (status == STATUS_OK)
        status = open_task(cli, job->earlier, &options, &file);
    if (status == STATUS_OK && job->mode != RUN_REPLAY && job->taker == NULL)
        status = optimize_check_output(cli, file);
    if (status == STATUS_OK && job->mode == RUN_FRESH && job->taker == NULL)
        status = check_overwriting(cli, &options, file);
    if (status != STATUS_OK)
        return status;
    options.machine_key = optimize_machine_key(cli->arena, &facts, &options.machine);
    struct optimize_view view = {cli, lang_name(options.lang), options.machine.threads};
    options.no_naive = job->taker && job->taker->no_naive;
    options.progress = job->taker ? job->taker->progress : optimize_progress;
    options.context = job->taker ? job->taker->context : &view;
    team.task = view.task;
    team.team.cpu = facts.cpu;
    status = open_team(job, &options, &team);
    limit_time(cli, &options);
    if (status == STATUS_OK && cli_given(cli, "dry-run") != NULL) {
        status = optimize_dry(cli, &options);
        optimize_close_team(&team);
        return status;
    }
    if (status == STATUS_OK && job->taker == NULL && job->mode != RUN_REPLAY)
        optimize_announce(&view, &options);
    if (status == STATUS_OK && job->mode != RUN_REPLAY)
        status = open_judge(cli, &options, &judge);
    team.judge = judge;
    if (status == STATUS_OK)
        status = open_run(job, &options, &facts, &run);
    if (status == STATUS_OK) {
        status = carry_out(job, &options, judge, result);
        log_progress_done(&cli->log);
        if (job->mode != RUN_REPLAY) {
            status = deliver(job, status, &options, judge, result, file);
            close_archive(cli, &options, result);
        }
    }
    judge_close(judge);
    optimize_close_team(&team);
    return status;
}

enum status
verb_optimize(struct cli *cli)
{
    struct optimize_job job = {.cli = cli};
    struct run_result result = {0};
    return optimize_do(&job, &result);
}
