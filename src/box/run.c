/* One sample, driven from outside: the clock, the deadline and the verdict on how it ended are
 * here, never in the guest's process.
 *
 *   send the job; meanwhile the caller fills its inputs; wait for `ready`
 *   go = 1, wait for `armed`: the guest's threads are awake
 *   T0; go = 2; wait for `done`; T1; kill; wait until the server has reaped all threads
 *
 * T1 is when *we* see the end. A stamp that the guest could cause (a message's kernel time, say)
 * can be had early while it still computes. Not one instruction of the guest has run before T0, and
 * nothing is read from its outputs before it is dead, but by the caller's own hook.
 *
 * In BOX_FUTEX mode the caller sleeps on the CPU of the guest's first thread, so that its waking is
 * a plain switch of processes there (sched.c).
 *
 * A server may be lost at any moment. Its guest is then killed by us and waited for before the run
 * is repeated, since both would use the same memory; the control words are made anew, for the case
 * that there is a guest of which we were not told: it waits for ever for its `go`. */
#include "box/run_int.h"

#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    LOST_MOST = 3,       /* servers that may be lost before we give up */
    ANSWER_SECONDS = 10, /* a server that is silent for so long is lost */
    ASK_AGAIN = 400,     /* times, of about a microsecond each */
    SPINS = 4096,        /* between two looks at the time and the server */
    NAP_US = 100000,     /* the same when asleep; the server wakes us when the guest dies */
};

_Static_assert((int)BOX__ROUNDS == (int)BOX_ROUNDS_MAX, "each round has its word");

struct run {
    struct box_server *server;
    struct box_job job; /* with the defaults filled in */
    struct box__worker *worker;
    int pidfd;
    pid_t guest; /* the number by which we know it; 0: unknown */
    int64_t faults_before;
    struct box__turn turn;
    struct box__ended ended;
    bool have_ended;
    struct box__seen seen;
    struct box_end *end;
    struct box__why *why;
};

enum outcome { WENT_ON, GUEST_ENDED, TIME_IS_UP, SERVER_LOST, OUR_FAULT };

static uint64_t
raw_clock(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC_RAW, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void
hook(const struct run *run, void (*function)(void *))
{
    if (function)
        function(run->job.hooks.context);
}

static void
relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("" ::: "memory");
#endif
}

static bool
poll_for(struct pollfd *polled, double seconds)
{
    double end = seconds > 0 ? clock_seconds() + seconds : 0, left = seconds;
    int got;

    while ((got = poll(polled, 1, (int)(left * 1000))) < 0 && errno == EINTR && left > 0) {
        left = end - clock_seconds();
        left = left > 0 ? left : 0;
    }
    return got > 0;
}

/* Whether the server has something to say within that time. To be woken on an idle CPU takes far
 * longer than most answers, so where the caller has a CPU of its own it asks again for a while. A
 * signal to the caller does not shorten the time. */
static bool
answers(const struct run *run, double seconds)
{
    struct pollfd polled = {.fd = run->worker->process.socket, .events = POLLIN};
    int asked = run->job.mode == BOX_SPIN && seconds > 0 ? ASK_AGAIN : 0;

    while (asked-- > 0)
        if (poll(&polled, 1, 0) > 0)
            return true;
    return poll_for(&polled, seconds);
}

/* The server's report, if it is there (or within `seconds`). */
static enum outcome
look(struct run *run, double seconds)
{
    ssize_t got;

    if (run->have_ended)
        return GUEST_ENDED;
    if (!answers(run, seconds))
        return WENT_ON;
    got = box__receive(run->worker->process.socket, &run->ended, sizeof run->ended, NULL, 0, NULL);
    if (got != (ssize_t)sizeof run->ended || run->ended.kind != BOX__ENDED)
        return SERVER_LOST;
    run->have_ended = true;
    return GUEST_ENDED;
}

static bool
is_set(uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE) == 1;
}

static bool
spin(uint32_t *word)
{
    for (int i = 0; i < SPINS; i++) {
        if (is_set(word))
            return true;
        relax();
    }
    return false;
}

static bool
doze(uint32_t *word, double end)
{
    double left = end - clock_seconds();
    long us = left < 0 ? 0 : left < NAP_US * 1e-6 ? (long)(left * 1e6) : NAP_US;

    if (!is_set(word))
        box__futex_wait(word, 0, us);
    return is_set(word);
}

/* Waits until `word` is 1. Time and server are looked at now and then only, and never before the
 * first long look at the word: what happens here may be inside the sample. */
static enum outcome
await(struct run *run, uint32_t *word, double end, bool spinning)
{
    for (;;) {
        enum outcome outcome;

        if (spinning ? spin(word) : doze(word, end))
            return WENT_ON;
        outcome = look(run, 0);
        if (outcome != WENT_ON)
            return outcome;
        if (clock_seconds() > end)
            return TIME_IS_UP;
    }
}

static void
kill_guest(struct run *run)
{
    syscall(SYS_pidfd_send_signal, run->pidfd, SIGKILL, NULL, 0);
}

/* Starting. */

static enum outcome
send_job(struct run *run)
{
    struct box__reply message = {.kind = BOX__JOB};
    int fds[BOX__FDS];
    size_t fd_count, got;

    if (box__table_write(run->server, &run->job, fds, &fd_count, run->why) != STATUS_OK)
        return OUR_FAULT;
    if (box__send(run->worker->process.socket, &message, sizeof message, fds, fd_count) < 0)
        return SERVER_LOST;
    answers(run, ANSWER_SECONDS);
    if (box__answer_of(&run->worker->process, &message, sizeof message, sizeof message, &run->pidfd,
                       1, &got, ANSWER_SECONDS, run->why) != STATUS_OK)
        return SERVER_LOST;
    return got == 1 ? WENT_ON : SERVER_LOST;
}

/* The number by which we know the guest; its own is that of another namespace. */
static pid_t
outer_pid(int pidfd)
{
    char path[64], text[512];
    const char *line;
    ssize_t got;
    int fd;

    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", pidfd);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    got = read(fd, text, sizeof text - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    line = strstr(text, "\nPid:");
    return line ? (pid_t)atoi(line + 5) : 0;
}

/* Page faults of the guest so far, all threads; -1: unknown. */
static int64_t
count_faults(pid_t guest)
{
    char path[64], text[1024];
    unsigned long minor, major;
    const char *fields;
    ssize_t got;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)guest);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    got = read(fd, text, sizeof text - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    fields = strrchr(text, ')');
    if (!fields || sscanf(fields, ") %*c %*d %*d %*d %*d %*d %*u %lu %*u %lu", &minor, &major) != 2)
        return -1;
    return (int64_t)minor + (int64_t)major;
}

/* Who may preempt whom from here on. */
static void
take_turn(struct run *run)
{
    const struct box_job *job = &run->job;
    bool realtime = job->realtime && job->limits.wall_seconds <= BOX_REALTIME_SECONDS;

    if (job->mode == BOX_FUTEX)
        run->end->realtime = box__take_turn(&run->turn, run->guest, realtime);
}

/* Until the guest's threads are awake and it waits for go. */
static enum outcome
arm(struct run *run)
{
    struct box__ctl *ctl = run->server->ctl;
    bool spinning = run->job.mode == BOX_SPIN;
    double end = clock_seconds() + run->job.limits.setup_seconds;
    enum outcome outcome = WENT_ON;

    if (!spinning || !spin(&ctl->ready))
        outcome = await(run, &ctl->ready, end, false);
    memcpy(&run->seen.before, ctl, sizeof run->seen.before);
    if (outcome != WENT_ON)
        return outcome;
    run->guest = outer_pid(run->pidfd);
    take_turn(run);
    __atomic_store_n(&ctl->go, 1, __ATOMIC_SEQ_CST);
    box__futex_wake(&ctl->go);
    return await(run, &ctl->armed, end, spinning);
}

/* The word that ends the sample. In which round that is stands nowhere in the guest's memory. */
static uint32_t *
last_word(const struct run *run)
{
    struct box__ctl *ctl = run->server->ctl;
    size_t stop = run->job.stop_after;
    bool early = stop > 0 && stop * run->job.round < run->job.call_count;

    return early ? &ctl->rounds[stop - 1] : &ctl->done;
}

/* The sample itself. */
static enum outcome
measure(struct run *run)
{
    struct box__ctl *ctl = run->server->ctl;
    bool spinning = run->job.mode == BOX_SPIN;
    uint64_t (*clock)(void) = run->job.hooks.clock;
    uint32_t *last = last_word(run);
    enum outcome outcome;
    uint64_t t1;
    double end;

    if (run->job.count_faults)
        run->faults_before = count_faults(run->guest);
    hook(run, run->job.hooks.armed);
    run->seen.went = true;
    end = clock_seconds() + run->job.limits.wall_seconds;
    run->end->t0 = clock();
    __atomic_store_n(&ctl->go, 2, __ATOMIC_SEQ_CST);
    if (!spinning)
        box__futex_wake(&ctl->go);
    outcome = await(run, last, end, spinning);
    t1 = clock();
    if (outcome == WENT_ON) {
        run->end->t1 = t1;
        kill_guest(run); /* at once: what it has not done by now is not done */
        run->seen.killed_by_us = true;
        hook(run, run->job.hooks.done);
    }
    run->seen.timed_out = outcome == TIME_IS_UP;
    return outcome;
}

/* The guest of a lost server: nobody reports its end, but its descriptor shows it. */
static bool
dies(const struct run *run)
{
    struct pollfd polled = {.fd = run->pidfd, .events = POLLIN};

    return poll_for(&polled, ANSWER_SECONDS);
}

/* Whatever happened: the guest is killed, and reaped before anything of its is looked at. */
static enum outcome
finish(struct run *run, enum outcome outcome)
{
    kill_guest(run);
    if (outcome != SERVER_LOST && look(run, ANSWER_SECONDS) != GUEST_ENDED)
        outcome = SERVER_LOST;
    if (outcome == SERVER_LOST && !dies(run)) {
        box__fault(run->why, 0, "a guest that was killed does not die");
        outcome = OUR_FAULT;
    }
    close(run->pidfd);
    run->pidfd = -1;
    return outcome;
}

static bool
verdict(struct run *run)
{
    struct box_end *end = run->end;

    end->calls = run->server->ctl->calls;
    if (!box__classify(&run->seen, &run->ended, end, run->why))
        return false;
    if (run->faults_before >= 0)
        end->timed_faults = (int64_t)(end->minor_faults + end->major_faults) - run->faults_before;
    return true;
}

/* One attempt. STATUS_NO: the server was lost, try again. */
static enum status
attempt(struct run *run)
{
    enum outcome outcome = SERVER_LOST;

    if (box__worker_for(run->server, &run->job, &run->worker, run->why) != STATUS_OK)
        return STATUS_MACHINE;
    run->have_ended = false;
    run->faults_before = -1;
    run->seen = (struct box__seen){.job = &run->job};
    outcome = send_job(run);
    run->seen.table = run->server->table;
    if (outcome != WENT_ON)
        return outcome == OUR_FAULT ? STATUS_MACHINE : STATUS_NO;
    hook(run, run->job.hooks.prepare);
    box__settle(&run->turn, run->job.caller_cpu);
    outcome = arm(run);
    if (outcome == WENT_ON)
        outcome = measure(run);
    outcome = finish(run, outcome);
    box__unsettle(&run->turn);
    if (outcome == SERVER_LOST || outcome == OUR_FAULT)
        return outcome == OUR_FAULT ? STATUS_MACHINE : STATUS_NO;
    if (outcome == TIME_IS_UP && !run->seen.went)
        return box__fault(run->why, 0, "the runner was not ready in time");
    return verdict(run) ? STATUS_OK : STATUS_MACHINE;
}

/* Also one that answers late: a stopped process does not go by itself. */
static void
give_up_server(struct run *run)
{
    if (run->worker->process.pid > 0)
        kill(run->worker->process.pid, SIGKILL);
    box__worker_drop(run->worker);
    box__control_drop(run->server);
}

static void
set_default(double *value, double standard)
{
    if (*value <= 0)
        *value = standard;
}

static void
fill_defaults(struct box_job *job)
{
    struct box_run_limits *limits = &job->limits;

    set_default(&limits->wall_seconds, 2);
    set_default(&limits->cpu_seconds, 10);
    set_default(&limits->setup_seconds, 60);
    if (limits->memory == 0)
        limits->memory = (size_t)1 << 30;
    if (limits->stack == 0)
        limits->stack = (size_t)8 << 20;
    if (!job->hooks.clock)
        job->hooks.clock = raw_clock;
}

enum status
box_run(struct box_server *server, const struct box_job *job, struct box_end *end,
        struct diags *diags)
{
    struct box__why why = {"hone-box was killed"};
    struct run run = {.server = server, .job = *job, .pidfd = -1, .end = end, .why = &why};
    enum status status = STATUS_NO;
    unsigned lost = 0;

    assert(job->threads >= 1 && job->threads <= BOX_CPUS_MAX && job->cpus);
    assert(job->region_count <= BOX_REGIONS_MAX && job->arg_count <= BOX_ARGS_MAX);
    assert(job->round == 0 || job->call_count <= BOX_ROUNDS_MAX * job->round);
    assert(job->call_count <= BOX_CALLS_MAX && strlen(job->function) < BOX__FUNCTION);
    fill_defaults(&run.job);
    while (lost <= LOST_MOST) {
        memset(end, 0, sizeof *end);
        end->replaced = lost;
        end->timed_faults = -1;
        status = attempt(&run);
        if (status != STATUS_NO)
            break;
        give_up_server(&run);
        lost++;
    }
    if (status == STATUS_NO)
        status = STATUS_MACHINE;
    return box__report(status, &why, diags);
}
