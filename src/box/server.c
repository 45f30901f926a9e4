/* Fork servers: started on demand, one for each list of CPUs, replaced when they die. */
#include "box/run_int.h"

#include "base/fault.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { START_SECONDS = 30, ENVIRONMENT = 12, PLACES = 16 + 8 * BOX_CPUS_MAX };

enum status
box_server_start(const struct box *box, struct box_server **result, struct diags *diags)
{
    struct box_server *server = fault_hit(FAULT_ALLOC) ? NULL : calloc(1, sizeof *server);
    struct box__why why = {{0}};

    *result = NULL;
    if (!server)
        return box__report(box__fault(&why, ENOMEM, "no server"), &why, diags);
    if (box->machine.level == BOX_NONE && !box->options.unsafe) {
        free(server);
        box__fault(&why, 0,
                   "this machine has no system call filter (seccomp); nothing is run here");
        return box__report(STATUS_MACHINE, &why, diags);
    }
    server->box = box;
    server->control = -1;
    for (size_t i = 0; i < BOX__SERVERS; i++)
        server->workers[i].process.socket = -1;
    *result = server;
    return STATUS_OK;
}

void
box_server_stop(struct box_server *server)
{
    if (!server)
        return;
    for (size_t i = 0; i < BOX__SERVERS; i++)
        box__worker_drop(&server->workers[i]);
    box__control_drop(server);
    free(server);
}

size_t
box_server_pids(const struct box_server *server, int *pids, size_t most)
{
    size_t count = 0;

    for (size_t i = 0; i < BOX__SERVERS && count < most; i++)
        if (server->workers[i].process.pid > 0)
            pids[count++] = server->workers[i].process.pid;
    return count;
}

/* OpenMP: as many threads as CPUs, one on each, no more whatever the guest asks for. */
struct environment {
    char threads[40], limit[40], places[PLACES], stack[40];
    const char *list[ENVIRONMENT];
};

static void
fill_environment(struct environment *environment, const struct box_job *job)
{
    size_t at = (size_t)snprintf(environment->places, PLACES, "OMP_PLACES=");

    for (size_t i = 0; i < job->threads; i++)
        at += (size_t)snprintf(environment->places + at, PLACES - at, "%s{%d}", i ? "," : "",
                               job->cpus[i]);
    snprintf(environment->threads, sizeof environment->threads, "OMP_NUM_THREADS=%zu",
             job->threads);
    snprintf(environment->limit, sizeof environment->limit, "OMP_THREAD_LIMIT=%zu", job->threads);
    snprintf(environment->stack, sizeof environment->stack, "OMP_STACKSIZE=%zuK",
             job->limits.stack >> 10);
    memcpy(environment->list,
           (const char *[ENVIRONMENT]){environment->threads, environment->limit,
                                       environment->places, environment->stack,
                                       "OMP_PROC_BIND=close", "OMP_DYNAMIC=false",
                                       "OMP_MAX_ACTIVE_LEVELS=1", "LC_ALL=C", NULL},
           sizeof environment->list);
}

/* The child inherits the affinity of the thread that starts it, and OpenMP reads it on loading. */
static enum status
start_on_cpus(struct box_server *server, struct box__worker *worker, const struct box_job *job,
              struct box__why *why)
{
    struct box__order order = {.verb = BOX__SERVE,
                               .without = box__without(server->box),
                               .use_nproc = server->box->nproc_counts};
    struct environment environment = {0};
    cpu_set_t before, wanted;
    enum status status;

    fill_environment(&environment, job);
    CPU_ZERO(&wanted);
    for (size_t i = 0; i < job->threads; i++)
        CPU_SET(job->cpus[i], &wanted);
    if (sched_getaffinity(0, sizeof before, &before) != 0 ||
        sched_setaffinity(0, sizeof wanted, &wanted) != 0)
        return box__fault(why, errno, "the CPUs of the job cannot be used");
    status =
        box__start(server->box, &order, NULL, NULL, 0, environment.list, &worker->process, why);
    sched_setaffinity(0, sizeof before, &before);
    return status;
}

static enum status
start_worker(struct box_server *server, struct box__worker *worker, const struct box_job *job,
             struct box__why *why)
{
    struct box__reply ready;
    enum status status = start_on_cpus(server, worker, job, why);

    if (status != STATUS_OK)
        return status;
    status = box__answer_of(&worker->process, &ready, sizeof ready, sizeof ready, NULL, 0, NULL,
                            START_SECONDS, why);
    if (status == STATUS_OK && (server->box->machine.features & ~ready.features &
                                (1u << BOX_MOUNTNS | 1u << BOX_PIDNS | 1u << BOX_NETNS)))
        status = box__fault(why, 0, "the jail could not be built as it could a moment ago");
    if (status != STATUS_OK) {
        box__worker_drop(worker);
        return status;
    }
    memcpy(worker->cpus, job->cpus, job->threads * sizeof *worker->cpus);
    worker->threads = job->threads;
    worker->stack = job->limits.stack;
    return STATUS_OK;
}

void
box__worker_drop(struct box__worker *worker)
{
    box__stop(&worker->process);
    worker->threads = 0;
}

enum status
box__worker_for(struct box_server *server, const struct box_job *job, struct box__worker **result,
                struct box__why *why)
{
    struct box__worker *chosen = NULL;

    for (size_t i = 0; i < BOX__SERVERS; i++) {
        struct box__worker *worker = &server->workers[i];

        if (worker->threads == job->threads && worker->stack == job->limits.stack &&
            memcmp(worker->cpus, job->cpus, job->threads * sizeof *worker->cpus) == 0) {
            *result = worker;
            return STATUS_OK;
        }
        if (!chosen && worker->threads == 0)
            chosen = worker;
    }
    if (!chosen) {
        chosen = &server->workers[server->next++ % BOX__SERVERS];
        box__worker_drop(chosen);
    }
    *result = chosen;
    return start_worker(server, chosen, job, why);
}
