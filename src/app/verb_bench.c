/* hone bench: many tasks, one table; two benchmarks compared. */
#include "app/archive.h"
#include "app/bench.h"
#include "app/config.h"
#include "app/optimize.h"
#include "app/schedule.h"

#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "bench/rivals.h"
#include "bench/suite.h"
#include "bridge/bridge.h"
#include "bridge/library.h"
#include "recipe/recipe.h"

#define USUAL_EVALUATIONS "40"
#define USUAL_TIME "60"
#define PATIENCE 900.0 /* seconds beyond the search: references, verdicts, builds of PyTorch */
#define LAST_SHOWN 4

const char *const bench_search_options[] = {"evals", "time",     "threads", "seed",
                                            "model", "role",     "calls",   "tokens",
                                            "cost",  "env-file", NULL};

/* ---- ^C ---- */

static volatile sig_atomic_t stop;

static void
on_interrupt(int number)
{
    (void)number;
    if (stop)
        _exit(130); /* the second time: at once; its task dies with it */
    stop = 1;
    static const char said[] = "\nstopping after this task; again to stop at once\n";
    if (write(STDERR_FILENO, said, sizeof said - 1) < 0)
        return;
}

/* ---- options ---- */

/* The command line, as far as it matters to the tasks. */
static const char *
options_json(struct cli *cli)
{
    struct buf json = buf_in(cli->arena);
    buf_puts(&json, "{\"operands\":[");
    for (size_t i = 0; i < cli->operand_count; i++) {
        buf_puts(&json, i ? "," : "");
        json_put_string(&json, cli->operands[i]);
    }
    buf_puts(&json, "],\"options\":{\"bench\":true");
    for (const char *const *name = bench_search_options; *name != NULL; name++)
        if (cli_given(cli, *name) != NULL)
            json_field_string(&json, *name, cli_given(cli, *name));
    if (cli_given(cli, "evals") == NULL)
        json_field_string(&json, "evals", USUAL_EVALUATIONS);
    if (cli_given(cli, "time") == NULL)
        json_field_string(&json, "time", USUAL_TIME);
    buf_puts(&json, "}}");
    return json.data;
}

const char *
bench_option(struct arena *arena, const struct store_bench *bench, const char *name)
{
    json_t *root = json_loads(bench->options, 0, NULL);
    const char *text = json_string_value(json_object_get(json_object_get(root, "options"), name));
    const char *kept = text ? arena_strdup(arena, text) : NULL;
    json_decref(root);
    return kept;
}

/* What is wrong is told before anything is begun, not once a task. */
static enum status
check_options(struct cli *cli)
{
    const char *evals = cli_given(cli, "evals"), *time = cli_given(cli, "time");
    int64_t number;
    double seconds;
    uint64_t seed;
    if (evals != NULL && (!text_integer(evals, &number) || number < 1 || number > 100000))
        return cli_wrong(cli, "--evals %s: write a number from 1 on", evals);
    if (time != NULL && !text_seconds(time, &seconds))
        return cli_wrong(cli, "--time %s: write seconds, or 2m, 1h", time);
    if (cli_given(cli, "csv") != NULL && cli->json)
        return cli_wrong(cli, "--csv and --json: leave one of them out");
    if (cli_given(cli, "gate") != NULL && cli_given(cli, "compare") == NULL)
        return cli_wrong(cli, "--gate is for --compare; write hone bench --compare OLD NEW --gate "
                              "3");
    return cli_seed(cli, 16, &seed);
}

static unsigned
processors(struct arena *arena)
{
    int *cpus;
    return (unsigned)measure_cpus(arena, &cpus);
}

/* Tasks that are measured at once share the processors, or they would measure one another. */
static enum status
read_jobs(struct cli *cli, unsigned threads, unsigned *jobs)
{
    const char *text = cli_given(cli, "jobs");
    int64_t number = 1;
    unsigned there = processors(cli->arena);
    if (text != NULL && (!text_integer(text, &number) || number < 1 || number > 64))
        return cli_wrong(cli, "--jobs %s: write a number from 1 on", text);
    *jobs = (unsigned)number;
    unsigned each = threads > 0 ? threads : there / *jobs;
    if (*jobs > 1 && (each < 1 || each * *jobs > there))
        return cli_wrong(cli,
                         "--jobs %u: with %u threads each this needs %u processors, here are %u; "
                         "write fewer jobs, or --threads %u",
                         *jobs, each ? each : 1, *jobs * (each ? each : 1), there,
                         there / *jobs ? there / *jobs : 1);
    return STATUS_OK;
}

/* Says in one line how to get it where it is not there. */
static bool
has_rival(struct cli *cli, const char *name)
{
    const struct library_info *library = library_named(name);
    bool there = library ? library_is_there(name) : bridge_is_there(cli->arena, NULL);
    if (!there && library != NULL)
        log_warning(&cli->log, "no %s, its baseline is left out; apt-get install %s installs it",
                    library->title, library->package);
    else if (!there)
        log_warning(&cli->log, "no PyTorch, its baselines are left out; ./run setup-torch installs "
                               "it");
    return there;
}

static bool
is_baseline(const char *word)
{
    for (const char *const *name = bench_rival_names; *name != NULL; name++)
        if (strcmp(*name, word) == 0)
            return true;
    return strcmp(word, "naive") == 0;
}

/* "torch,naive": in the order of the rivals, the plain C last, whatever was written; what the gain
 * is counted against stands first. */
static enum status
read_against(struct cli *cli, const char **against)
{
    const char *text = cli_given(cli, "against");
    char *next = arena_strdup(cli->arena, text ? text : "torch,naive");
    struct buf names = buf_in(cli->arena);
    text = arena_strdup(cli->arena, next);
    for (char *word; (word = strsep(&next, ",")) != NULL;)
        if (!is_baseline(word))
            return cli_wrong(cli, "--against %s: write torch, openblas, onednn, naive, or several",
                             word);
    for (const char *const *name = bench_rival_names; *name != NULL; name++)
        if (bench_is_against(text, *name) && has_rival(cli, *name))
            buf_printf(&names, "%s,", *name);
    if (names.length == 0 || bench_is_against(text, "naive"))
        buf_puts(&names, "naive");
    else
        names.data[--names.length] = '\0';
    *against = names.data;
    return STATUS_OK;
}

/* Without models the built-in search works alone. */
static enum status
read_recipes(struct cli *cli, const struct config *config, const char **recipes)
{
    bool models = cli_given(cli, "model") != NULL || config->values[CONFIG_MODEL].text != NULL;
    *recipes = cli_given(cli, "recipe");
    if (*recipes == NULL)
        *recipes = models ? config->values[CONFIG_RECIPE].text : "builtin";
    char *next = arena_strdup(cli->arena, *recipes);
    for (char *word; (word = strsep(&next, ",")) != NULL;)
        if (strcmp(word, "builtin") != 0 && recipe_find(cli->arena, word, cli->diags) == NULL)
            return STATUS_INPUT;
    return STATUS_OK;
}

/* ---- the plan ---- */

static enum status
select_tasks(struct cli *cli, struct suite_plan *plan)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < cli->operand_count && status == STATUS_OK; i++)
        status = suite_select(cli->arena, cli->operands[i], plan, cli->diags);
    return status;
}

static const char *
title_of(const struct cli *cli)
{
    struct buf title = buf_in(cli->arena);
    for (size_t i = 0; i < cli->operand_count; i++)
        buf_printf(&title, "%s%s", i ? " " : "", cli->operands[i]);
    return title.data;
}

/* Each task under each recipe, one recipe after another: what drifts touches them alike. */
static void
make_rows(struct cli *cli, const struct suite_plan *plan, const char *recipes,
          struct bench_view *view)
{
    size_t names = 1;
    for (const char *at = recipes; *at; at++)
        names += *at == ',';
    view->rows = arena_array(cli->arena, plan->count * names + 1, sizeof *view->rows);
    for (size_t i = 0; i < plan->count; i++) {
        char *next = arena_strdup(cli->arena, recipes);
        for (char *recipe; (recipe = strsep(&next, ",")) != NULL;)
            view->rows[view->count++] = (struct store_bench_task){
                .suite = plan->tasks[i].suite,
                .number = plan->tasks[i].number ? plan->tasks[i].number : (int64_t)i + 1,
                .name = plan->tasks[i].name,
                .path = plan->tasks[i].path,
                .marks = plan->tasks[i].marks,
                .recipe = recipe,
                .status = ""};
    }
}

/* ---- the session ---- */

struct session {
    struct cli *cli;
    struct store *store;
    struct bench_view view;
    struct arena *rows; /* those of the view */
    size_t *left;       /* places of the rows that are to be done */
    size_t left_count, here;
    struct bench_now now[64]; /* under way, in the order of their beginning */
    size_t now_count;
    size_t last[LAST_SHOWN]; /* places, the newest first */
    size_t last_count;
    double began;
    const char *self, *archive;
};

/* The rows as the archive has them now. */
static enum status
read_rows(struct session *session)
{
    struct arena *arena = arena_create();
    if (arena == NULL)
        return STATUS_MACHINE;
    enum status status =
        store_bench_tasks(session->store, arena, session->view.bench.id, &session->view.rows,
                          &session->view.count, session->cli->diags);
    arena_destroy(session->rows);
    session->rows = arena;
    return status;
}

static void
find_left(struct session *session)
{
    session->left =
        arena_array(session->cli->arena, session->view.count + 1, sizeof *session->left);
    for (size_t i = 0; i < session->view.count; i++)
        if (!bench_is_done(&session->view.rows[i]))
            session->left[session->left_count++] = i;
}

/* ---- what is seen of it ---- */

static void
show(struct session *session, bool news)
{
    struct arena *arena = arena_create();
    const struct store_bench_task *last[LAST_SHOWN];
    if (arena == NULL)
        return;
    for (size_t i = 0; i < session->now_count; i++)
        session->now[i].row = &session->view.rows[session->now[i].place];
    for (size_t i = 0; i < session->last_count; i++)
        last[i] = &session->view.rows[session->last[i]];
    bench_show_live(&session->cli->log, arena,
                    &(struct bench_live){.view = &session->view,
                                         .now = session->now,
                                         .now_count = session->now_count,
                                         .last = last,
                                         .last_count = session->last_count,
                                         .seconds = clock_seconds() - session->began,
                                         .here = session->here,
                                         .news = news});
    arena_destroy(arena);
}

static void
tick(void *context)
{
    show(context, false);
}

static struct bench_now *
now_at(struct session *session, size_t place)
{
    for (size_t i = 0; i < session->now_count; i++)
        if (session->now[i].place == place)
            return &session->now[i];
    return NULL;
}

/* The last line counts. */
static void
on_news(void *context, size_t task, const char *text)
{
    struct session *session = context;
    struct bench_now *now = now_at(session, session->left[task]);
    for (const char *line = text; line != NULL && *line && now != NULL;) {
        bench_hear(line, &now->said);
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
}

/* ---- a task ends ---- */

static const char *
how_it_ended(struct arena *arena, const struct proc_result *result)
{
    const char *said = result->err ? result->err : "";
    if (result->timed_out)
        return "its process gave no result and was ended";
    if (result->signal != 0)
        return arena_printf(arena, "its process was ended by signal %d (%s)", result->signal,
                            strsignal(result->signal));
    return *said ? arena_strndup(arena, said, strcspn(said, "\n"))
                 : arena_printf(arena, "its process ended with exit code %d", result->exit_code);
}

/* Whoever could not write what came of a task did not finish it. */
static enum status
write_broken(struct session *session, size_t place, const struct proc_result *result)
{
    struct store_bench_task row = session->view.rows[place];
    row.status = BENCH_BROKEN;
    row.reason = how_it_ended(session->rows, result);
    row.time_us = row.low_us = row.high_us = row.light = row.light_us = row.seconds = NAN;
    row.ended = clock_wall();
    return store_bench_task_end(session->store, &row, session->cli->diags);
}

static void
move_on(struct session *session, size_t place)
{
    struct bench_now *now = now_at(session, place);
    if (now != NULL)
        *now = session->now[--session->now_count];
    if (session->last_count < LAST_SHOWN)
        session->last_count++;
    memmove(session->last + 1, session->last, (session->last_count - 1) * sizeof *session->last);
    session->last[0] = place;
    session->here++;
}

static enum status
on_end(void *context, size_t task, const struct proc_result *result)
{
    struct session *session = context;
    size_t place = session->left[task];
    enum status status = read_rows(session);
    if (status == STATUS_OK && !bench_is_done(&session->view.rows[place])) {
        status = write_broken(session, place, result);
        if (status == STATUS_OK)
            status = read_rows(session);
    }
    if (status != STATUS_OK)
        return status;
    move_on(session, place);
    show(session, true);
    return STATUS_OK;
}

static const char *const *
command(void *context, struct arena *arena, size_t task)
{
    struct session *session = context;
    size_t place = session->left[task];
    const char **argv = arena_array(arena, 10, sizeof *argv);
    size_t count = 0;
    session->now[session->now_count++] =
        (struct bench_now){.place = place, .said = {.best_us = INFINITY}};
    argv[count++] = session->self;
    argv[count++] = "bench";
    argv[count++] = "--resume";
    argv[count++] = session->view.bench.name;
    argv[count++] = "--only";
    argv[count++] = arena_printf(arena, "%zu", place);
    argv[count++] = "--archive";
    argv[count++] = session->archive;
    argv[count++] = "-q";
    return argv;
}

/* ---- beginning, going on ---- */

static enum status
begin(struct session *session)
{
    struct cli *cli = session->cli;
    struct bench_view *view = &session->view;
    struct suite_plan plan = {0};
    struct coder_machine machine;
    struct measure_facts facts;
    unsigned threads = 0, jobs = 1;
    enum status status = select_tasks(cli, &plan);
    if (status == STATUS_OK)
        status = config_threads(cli, &threads);
    if (status == STATUS_OK)
        status = read_jobs(cli, threads, &jobs);
    if (status == STATUS_OK)
        status = read_recipes(cli, cli->config, &view->bench.recipes);
    if (status == STATUS_OK)
        status = read_against(cli, &view->bench.against);
    if (status != STATUS_OK)
        return status;
    make_rows(cli, &plan, view->bench.recipes, view);
    schedule_machine(cli->arena, &machine, &facts);
    machine.threads = threads > 0 ? threads : machine.threads / jobs;
    view->bench.title = title_of(cli);
    view->bench.model = cli_given(cli, "model");
    view->bench.options = options_json(cli);
    view->bench.machine = optimize_machine_json(cli->arena, &facts, &machine);
    view->bench.machine_key = optimize_machine_key(cli->arena, &facts, &machine);
    view->bench.started = clock_wall();
    status = archive_open(cli, STORE_WRITE, &session->store);
    if (status == STATUS_NO)
        return cli_wrong(cli, "a benchmark is kept in an archive; name one with --archive FILE");
    if (status == STATUS_OK)
        status =
            store_bench_begin(session->store, &view->bench, view->rows, view->count, cli->diags);
    return status;
}

static enum status
go_on(struct session *session, const char *name)
{
    struct cli *cli = session->cli;
    struct store_bench *bench = &session->view.bench;
    if (cli->operand_count > 0)
        return cli_wrong(cli, "--resume %s: it knows its tasks; leave %s out", name,
                         cli->operands[0]);
    enum status status = archive_need(cli, STORE_WRITE, &session->store);
    if (status == STATUS_OK)
        status = store_bench_find(session->store, cli->arena, name, bench, cli->diags);
    if (status == STATUS_OK && bench->finished < bench->tasks)
        status = store_bench_resume(session->store, bench->id, cli->diags);
    return status;
}

/* ---- the work ---- */

/* Figures from a busy machine are figures of the others. */
static void
warn_of_others(struct cli *cli)
{
    struct measure_clock clock = measure_clock_open();
    struct measure_state state;
    measure_state_read(cli->arena, &clock, &state);
    if (!state.fit && state.reason_count > 0)
        log_warning(&cli->log, "this machine is not fit to measure on: %s; hone machine tells more",
                    state.reason[0]);
}

static enum status
find_self(struct session *session)
{
    struct cli *cli = session->cli;
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) {
        diags_add(cli->diags, DIAG_ERROR, (struct place){0},
                  "/proc/self/exe cannot be read: which program is to measure the tasks?");
        return STATUS_MACHINE;
    }
    session->self = arena_strndup(cli->arena, self, (size_t)length);
    session->archive = cli->config->values[CONFIG_ARCHIVE].text;
    return STATUS_OK;
}

static double
patience_of(struct session *session)
{
    const char *text = bench_option(session->cli->arena, &session->view.bench, "time");
    double seconds = 0;
    return text != NULL && text_seconds(text, &seconds) ? PATIENCE + 4 * seconds : 0;
}

static enum status
work(struct session *session)
{
    struct cli *cli = session->cli;
    const char *threads = bench_option(cli->arena, &session->view.bench, "threads");
    int64_t each = 0;
    struct bench_team team = {.context = session,
                              .patience = patience_of(session),
                              .stop = &stop,
                              .command = command,
                              .news = on_news,
                              .tick = tick,
                              .ended = on_end};
    if (threads != NULL)
        text_integer(threads, &each);
    enum status status = read_jobs(cli, (unsigned)each, &team.jobs);
    if (status == STATUS_OK)
        status = find_self(session);
    if (status != STATUS_OK)
        return status;
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, NULL);
    warn_of_others(cli);
    session->began = clock_seconds();
    status = bench_work(&team, session->left_count, cli->diags);
    log_progress_done(&cli->log);
    return status;
}

/* Stopped, or all of it done. */
static enum status
finish(struct session *session, enum status status)
{
    struct cli *cli = session->cli;
    bool whole = session->here == session->left_count;
    enum status written = store_bench_finish(session->store, session->view.bench.id,
                                             whole ? STORE_DONE : STORE_STOPPED,
                                             whole  ? ""
                                             : stop ? "you"
                                                    : "an error",
                                             clock_wall(), cli->diags);
    if (status == STATUS_OK)
        status = written;
    if (status == STATUS_OK)
        status = store_bench_find(session->store, cli->arena,
                                  arena_strdup(cli->arena, session->view.bench.name),
                                  &session->view.bench, cli->diags);
    return status;
}

/* ---- the result ---- */

static enum status
put_result(struct cli *cli, struct store *store, struct bench_view *view)
{
    const char *file = cli_given(cli, "o");
    if (cli->json || cli_given(cli, "csv") != NULL || cli->verbosity > 0)
        bench_read_searches(store, cli->arena, view);
    if (cli->json)
        bench_put_json(&cli->out, view);
    else if (cli_given(cli, "csv") != NULL)
        bench_put_csv(&cli->out, view);
    else
        bench_show_summary(&cli->out, view);
    if (file != NULL) {
        enum status status = file_write(file, cli->out.data, cli->out.length, cli->diags);
        cli->out = buf_in(cli->arena);
        if (status != STATUS_OK)
            return status;
    }
    for (size_t i = 0; i < view->count; i++)
        if (!bench_is_correct(&view->rows[i]))
            return STATUS_NO;
    return STATUS_OK;
}

static enum status
run_benchmark(struct cli *cli)
{
    struct session session = {.cli = cli};
    const char *name = cli_given(cli, "resume"), *file = cli_given(cli, "o");
    enum status status = file ? optimize_check_output(cli, file) : STATUS_OK;
    if (status == STATUS_OK)
        status = name != NULL ? go_on(&session, name) : begin(&session);
    if (status == STATUS_OK)
        status = read_rows(&session);
    if (status == STATUS_OK)
        find_left(&session);
    if (status == STATUS_OK && session.left_count > 0)
        status = finish(&session, work(&session));
    if (status == STATUS_OK)
        status = put_result(cli, session.store, &session.view);
    store_close(session.store);
    arena_destroy(session.rows);
    return status;
}

/* ---- comparing ---- */

enum status
bench_read_view(struct cli *cli, struct store *store, const char *name, struct bench_view *view)
{
    *view = (struct bench_view){0};
    enum status status = store_bench_find(store, cli->arena, name, &view->bench, cli->diags);
    if (status == STATUS_OK)
        status = store_bench_tasks(store, cli->arena, view->bench.id, &view->rows, &view->count,
                                   cli->diags);
    return status;
}

/* Per cents; INFINITY: there is no gate. */
static enum status
read_gate(struct cli *cli, double *gate)
{
    const char *text = cli_given(cli, "gate");
    char *end;
    *gate = INFINITY;
    if (text == NULL)
        return STATUS_OK;
    *gate = strtod(text, &end);
    if (end == text || *end || !(*gate >= 0 && *gate < 1000))
        return cli_wrong(cli, "--gate %s: write per cents, as in 3", text);
    return STATUS_OK;
}

static enum status
compare(struct cli *cli)
{
    struct store *store = NULL;
    struct bench_view before, after;
    struct bench_comparison comparison;
    double gate;
    enum status status = read_gate(cli, &gate);
    if (status == STATUS_OK && cli->operand_count != 2)
        status = cli_wrong(cli, "--compare: two benchmarks are wanted; write hone bench --compare "
                                "OLD NEW");
    if (status == STATUS_OK)
        status = archive_need(cli, STORE_READ, &store);
    if (status == STATUS_OK)
        status = bench_read_view(cli, store, cli->operands[0], &before);
    if (status == STATUS_OK)
        status = bench_read_view(cli, store, cli->operands[1], &after);
    if (status == STATUS_OK && (cli->json || cli->verbosity > 0)) {
        bench_read_searches(store, cli->arena, &before);
        bench_read_searches(store, cli->arena, &after);
    }
    store_close(store);
    if (status != STATUS_OK)
        return status;
    if (strcmp(before.bench.machine_key, after.bench.machine_key) != 0)
        log_warning(&cli->log, "%s was measured on %s, %s on %s: that may be the difference",
                    before.bench.name, before.bench.machine_key, after.bench.name,
                    after.bench.machine_key);
    bench_compare(cli->arena, before.rows, before.count, after.rows, after.count, &comparison);
    if (cli->json)
        bench_put_comparison(&cli->out, &before, &after, &comparison, gate);
    else
        bench_show_comparison(&cli->out, &before, &after, &comparison, gate, cli->verbosity);
    return bench_regressed(&comparison, gate / 100) && !isinf(gate) ? STATUS_NO : STATUS_OK;
}

/* ---- the verb ---- */

static enum status
do_one(struct cli *cli, const char *text)
{
    const char *name = cli_given(cli, "resume");
    int64_t place;
    if (name == NULL || !text_integer(text, &place))
        return cli_wrong(cli, "--only %s: write --resume RUN --only N, N from 0 on", text);
    return bench_do_task(cli, name, place);
}

enum status
verb_bench(struct cli *cli)
{
    const struct config *config;
    const char *only = cli_given(cli, "only");
    enum status status = config_read(cli, &config);
    if (status == STATUS_OK)
        status = check_options(cli);
    if (status != STATUS_OK)
        return status;
    if (only != NULL)
        return do_one(cli, only);
    if (cli_given(cli, "compare") != NULL)
        return compare(cli);
    if (cli->operand_count == 0 && cli_given(cli, "resume") == NULL)
        return cli_wrong(cli, "hone bench: which tasks? Write a suite, as in hone bench "
                              "kernelbench/1:1-20");
    return run_benchmark(cli);
}
