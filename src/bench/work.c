/* The tasks that are left, each in a process of its own: whatever one of them does to its process,
 * the others go on, and nothing of it is left in memory that the next one needs. */
#include "bench/bench.h"

#include "measure/measure.h"

#include <poll.h>
#include <string.h>

enum {
    MOST_JOBS = 64,
    TICK_MS = 200,
};

struct job {
    struct arena *arena; /* NULL: nobody works here */
    struct proc *proc;
    struct proc_result result;
    size_t task;
    size_t told; /* bytes of its output that were news */
};

struct workshop {
    const struct bench_team *team;
    struct arena *arena;
    int *cpus;
    size_t cpu_count;
    struct job jobs[MOST_JOBS];
    size_t next, count; /* tasks */
    enum status status;
    struct diags *diags;
};

/* ---- a process ---- */

/* The processors of job number `number`; what it starts has them too. */
static cpu_set_t
share_of(const struct workshop *shop, size_t number)
{
    cpu_set_t set;
    size_t first = number * shop->cpu_count / shop->team->jobs;
    size_t last = (number + 1) * shop->cpu_count / shop->team->jobs;

    CPU_ZERO(&set);
    for (size_t i = first; i < last; i++)
        CPU_SET(shop->cpus[i], &set);
    return set;
}

/* Takes the processors while the process is started, and gives them back. */
static struct proc *
start_on_share(struct workshop *shop, size_t number, const struct proc_request *request)
{
    struct job *job = &shop->jobs[number];
    cpu_set_t before, share = share_of(shop, number);
    bool bound = shop->team->jobs > 1 && sched_getaffinity(0, sizeof before, &before) == 0 &&
                 sched_setaffinity(0, sizeof share, &share) == 0;
    struct proc *proc = proc_start(job->arena, request, &job->result);

    if (bound)
        sched_setaffinity(0, sizeof before, &before);
    return proc;
}

static void
end(struct workshop *shop, struct job *job)
{
    enum status status = shop->team->ended(shop->team->context, job->task, &job->result);

    if (shop->status == STATUS_OK)
        shop->status = status;
    arena_destroy(job->arena);
    *job = (struct job){0};
}

static void
start(struct workshop *shop, size_t number)
{
    const struct bench_team *team = shop->team;
    struct job *job = &shop->jobs[number];

    *job = (struct job){.arena = arena_create(), .task = shop->next++};
    if (!job->arena) {
        diags_add(shop->diags, DIAG_ERROR, (struct place){0}, "there is no memory left");
        shop->status = STATUS_MACHINE;
        return;
    }
    struct proc_request request = {.argv = team->command(team->context, job->arena, job->task),
                                   .seconds = team->patience};
    job->proc = start_on_share(shop, number, &request);
    if (!job->proc)
        end(shop, job);
}

/* Whole lines that were not told yet. */
static void
tell(const struct workshop *shop, struct job *job)
{
    const char *text = proc_out_text(job->proc);
    const char *last = memrchr(text, '\n', proc_out_length(job->proc));
    size_t length = last ? (size_t)(last - text) + 1 : 0;

    if (length > job->told) {
        struct arena *arena = arena_create();

        if (arena && shop->team->news)
            shop->team->news(shop->team->context, job->task,
                             arena_strndup(arena, text + job->told, length - job->told));
        arena_destroy(arena);
        job->told = length;
    }
}

static void
step(struct workshop *shop, struct job *job)
{
    bool over = proc_step(job->proc);

    tell(shop, job);
    if (over) {
        proc_end(job->proc, &job->result);
        end(shop, job);
    }
}

/* ---- all of them ---- */

static bool
may_begin(const struct workshop *shop)
{
    return shop->next < shop->count && shop->status == STATUS_OK &&
           !(shop->team->stop && *shop->team->stop);
}

static void
wait_a_little(const struct workshop *shop)
{
    struct pollfd fds[2 * MOST_JOBS];
    nfds_t count = 0;

    for (size_t i = 0; i < shop->team->jobs; i++) {
        int open[2];
        size_t opened = shop->jobs[i].proc ? proc_fds(shop->jobs[i].proc, open) : 0;

        for (size_t k = 0; k < opened; k++)
            fds[count++] = (struct pollfd){.fd = open[k], .events = POLLIN};
    }
    poll(fds, count, TICK_MS);
}

enum status
bench_work(const struct bench_team *team, size_t task_count, struct diags *diags)
{
    struct workshop shop = {
        .team = team, .arena = arena_create(), .count = task_count, .diags = diags};
    bool busy = true;

    if (!shop.arena || team->jobs == 0 || team->jobs > MOST_JOBS) {
        arena_destroy(shop.arena);
        return STATUS_MACHINE;
    }
    shop.cpu_count = measure_cpus(shop.arena, &shop.cpus);
    while (busy) {
        busy = false;
        for (size_t i = 0; i < team->jobs; i++) {
            if (!shop.jobs[i].arena && may_begin(&shop))
                start(&shop, i);
            if (shop.jobs[i].proc)
                step(&shop, &shop.jobs[i]);
            busy = busy || shop.jobs[i].proc || may_begin(&shop);
        }
        if (team->tick)
            team->tick(team->context);
        if (busy)
            wait_a_little(&shop);
    }
    arena_destroy(shop.arena);
    return shop.status;
}
