/* A benchmark under way: each task in a process of its own, what is seen of them, what the archive
 * is told when one ends. */
#include "app/archive.h"
#include "app/bench.h"
#include "app/config.h"
#include "app/optimize.h"
#include "app/schedule.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

#define PATIENCE 900.0 /* seconds beyond the search: references, verdicts, builds of PyTorch */
#define LAST_SHOWN 4

/* ---- ^C ---- */

static volatile sig_atomic_t stop;
static char stopping[160]; /* written before the signal can come: a handler formats nothing */

/* The second time: at once; the task under way dies with this process. */
static void
on_interrupt(int number)
{
    (void)number;
    if (stop)
        _exit(130);
    stop = 1;
    if (write(STDERR_FILENO, stopping, strlen(stopping)) < 0)
        return;
}

static void
listen_to_interrupts(const char *name)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    snprintf(stopping, sizeof stopping,
             "\nstopping after this task; again to stop at once. Go on:  hone bench --resume %s\n",
             name);
    sigaction(SIGINT, &action, NULL);
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
    bool began = result->exit_code != -1 || result->signal != 0 || result->timed_out;
    if (!began) { /* nothing is known of the task: it is left for --resume */
        diags_add(session->cli->diags, DIAG_ERROR, (struct place){0},
                  "%s cannot be started for a task: %s", session->self,
                  result->err ? result->err : "no reason is known");
        return STATUS_MACHINE;
    }
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
        (struct bench_now){.place = place, .said = {.best_us = INFINITY}, .began = clock_seconds()};
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
    struct coder_machine machine;
    struct measure_facts facts;
    unsigned threads;
    enum status status = bench_plan(cli, view, &threads);
    if (status != STATUS_OK)
        return status;
    schedule_machine(cli->arena, &machine, &facts);
    machine.threads = threads;
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
    enum status status = bench_read_jobs(cli, (unsigned)each, &team.jobs);
    if (status == STATUS_OK)
        status = find_self(session);
    if (status != STATUS_OK)
        return status;
    listen_to_interrupts(session->view.bench.name);
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
    return status == STATUS_OK ? written : status;
}

/* ---- all of it ---- */

enum status
bench_run(struct cli *cli, const char *resume, struct store **store, struct bench_view *view)
{
    struct session session = {.cli = cli};
    enum status status = resume != NULL ? go_on(&session, resume) : begin(&session);
    if (status == STATUS_OK)
        status = read_rows(&session);
    if (status == STATUS_OK)
        find_left(&session);
    if (status == STATUS_OK && session.left_count > 0)
        status = finish(&session, work(&session));
    else if (status == STATUS_OK && session.view.bench.state != STORE_DONE)
        status = finish(&session, STATUS_OK); /* killed between its last task and its end */
    arena_destroy(session.rows);
    *store = session.store;
    return status == STATUS_OK ? bench_read_view(cli, *store, session.view.bench.name, view)
                               : status;
}
