/* The fork server: inside the jail, one runner at a time, and the report of how it ended.
 *
 * It holds no secret and no file. It never believes a runner: what it reports comes from the kernel
 * (wait4, and ptrace for the address of a fault). It lives as long as the socket: the library's
 * end closes when the program that uses it dies in whatever way, and with process 1 of the pid
 * namespace the kernel ends everything in it. */
#include "box/server/server_int.h"

#include "box/box.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static const char object_path[] = "/job/object.so";

struct server {
    struct jail jail;
    int signals; /* a descriptor that tells of SIGCHLD */
    cpu_set_t cpus;
    bool trace, use_nproc, landlock, filter, own_root;
};

struct job {
    int fds[BOX__FDS];
    size_t fd_count;
    pid_t pid;
    struct box__ended ended;
};

/* Before the guest's: what must have happened once in the process from which runners are forked. */

static void *
nothing(void *argument)
{
    return argument;
}

/* glibc installs a signal handler with the first thread, which the run filter would not allow.
 * No parallel region here, ever: a child of a process that had one hangs in its first. */
static int
first_thread(void)
{
    pthread_t thread;

    return pthread_create(&thread, NULL, nothing, NULL) == 0 ? pthread_join(thread, NULL) : -1;
}

/* Libraries that an object may name; the root is empty later. */
static void
load_libraries(void)
{
    dlopen("libm.so.6", RTLD_NOW | RTLD_GLOBAL);
    dlopen("libmvec.so.1", RTLD_NOW | RTLD_GLOBAL); /* x86 alone has it */
    omp_get_max_threads();
}

static int
open_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    return sigprocmask(SIG_BLOCK, &set, NULL) == 0 ? signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)
                                                   : -1;
}

static int
start(struct server *server, const struct box__order *order)
{
    load_libraries();
    server->jail = (struct jail){.without = order->without, .bytes = 512ull << 20};
    if (jail_enter(&server->jail) != 0)
        return -1;
    server->own_root = server->jail.features & (1u << BOX_MOUNTNS);
    server->use_nproc = order->use_nproc && (server->jail.features & (1u << BOX_USERNS));
    server->filter = !(order->without & (1u << BOX_SECCOMP));
    server->trace = !(order->without & (1u << BOX_PTRACE));
    server->landlock = !(order->without & (1u << BOX_LANDLOCK)) && landlock_abi() > 0;
    server->signals = open_signals();
    if (server->signals < 0 || first_thread() != 0 ||
        sched_getaffinity(0, sizeof server->cpus, &server->cpus) != 0) {
        snprintf(server->jail.text, sizeof server->jail.text, "the fork server cannot be set up");
        return -1;
    }
    return 0;
}

/* Starting a runner. */

/* The loader wants a path, and the empty root has no /proc: a copy, gone with the jail. */
static int
place_object(int from)
{
    int to = open(object_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    struct stat facts;
    off_t at = 0;

    if (to < 0 || fstat(from, &facts) != 0)
        goto out;
    while (at < facts.st_size) {
        ssize_t sent = sendfile(to, from, &at, (size_t)(facts.st_size - at));

        if (sent <= 0)
            goto out;
    }
    close(to);
    return 0;
out:
    if (to >= 0)
        close(to);
    return -1;
}

/* The runner waits at the gate until it is traced: a thread made before would not be. */
static _Noreturn void
become_runner(const struct server *server, struct job *job, int gate)
{
    struct runner runner = {.fds = job->fds,
                            .fd_count = job->fd_count,
                            .object = server->own_root ? object_path : NULL,
                            .use_nproc = server->use_nproc,
                            .landlock = server->landlock,
                            .filter = server->filter};
    sigset_t none;
    char word;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (read(gate, &word, 1) < 0)
        _exit(102);
    runner_main(&runner);
}

static int
start_runner(struct server *server, struct job *job)
{
    struct box__reply reply = {.kind = BOX__STARTED};
    int pidfd, gate[2];

    if (server->own_root && place_object(job->fds[0]) != 0)
        return -1;
    /* A guest of our own user id can move us; the next one must not start where it wants. */
    if (sched_setaffinity(0, sizeof server->cpus, &server->cpus) != 0 ||
        pipe2(gate, O_CLOEXEC) != 0)
        return -1;
    job->pid = fork();
    if (job->pid == 0) {
        close(gate[1]);
        become_runner(server, job, gate[0]);
    }
    if (job->pid > 0 && server->trace)
        ptrace(PTRACE_SEIZE, job->pid, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE);
    close(gate[0]);
    close(gate[1]); /* opens it */
    if (job->pid < 0)
        return -1;
    pidfd = (int)syscall(SYS_pidfd_open, job->pid, 0);
    if (pidfd < 0 || box__send(BOX__SOCKET, &reply, sizeof reply, &pidfd, 1) < 0)
        kill(job->pid, SIGKILL);
    if (pidfd >= 0)
        close(pidfd);
    return 0;
}

/* Watching it. */

/* Signals that end nobody: an outsider's must not hide what ends the guest later. */
static bool
is_harmless(int number)
{
    return number == SIGCHLD || number == SIGCONT || number == SIGURG || number == SIGWINCH ||
           number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
}

/* The first fatal signal counts. Ordinary stops of ptrace are passed over. */
static void
note_signal(struct box__ended *ended, pid_t thread, int number)
{
    siginfo_t info;

    if (ended->signal != 0 || is_harmless(number) ||
        ptrace(PTRACE_GETSIGINFO, thread, NULL, &info) != 0)
        return;
    ended->signal = number;
    ended->code = info.si_code;
    if (number == SIGSYS) {
        ended->syscall = info.si_syscall;
        ended->arch = info.si_arch;
    } else {
        ended->address = (uintptr_t)info.si_addr;
    }
#if defined(__x86_64__)
    struct user_regs_struct registers;

    if (ptrace(PTRACE_GETREGS, thread, NULL, &registers) == 0)
        ended->rip = registers.rip;
#endif
}

static void
on_stop(struct job *job, pid_t thread, int status)
{
    int number = WSTOPSIG(status);

    if (status >> 16 != 0) {
        ptrace(PTRACE_CONT, thread, NULL, NULL);
        return;
    }
    note_signal(&job->ended, thread, number);
    ptrace(PTRACE_CONT, thread, NULL, (void *)(intptr_t)number);
}

static void
note_end(struct box__ended *ended, int status, const struct rusage *usage)
{
    ended->kind = BOX__ENDED;
    ended->status = status;
    ended->minor_faults = (uint64_t)usage->ru_minflt;
    ended->major_faults = (uint64_t)usage->ru_majflt;
    ended->involuntary = (uint64_t)usage->ru_nivcsw;
    ended->user_us = (uint64_t)usage->ru_utime.tv_sec * 1000000 + (uint64_t)usage->ru_utime.tv_usec;
    ended->system_us =
        (uint64_t)usage->ru_stime.tv_sec * 1000000 + (uint64_t)usage->ru_stime.tv_usec;
}

/* true when the runner and all its threads are gone. */
static bool
reap(struct job *job)
{
    struct rusage usage;
    int status;
    pid_t pid;

    while ((pid = wait4(-1, &status, __WALL | WNOHANG, &usage)) > 0) {
        if (WIFSTOPPED(status)) {
            on_stop(job, pid, status);
        } else if (pid == job->pid) {
            note_end(&job->ended, status, &usage);
            return true;
        }
    }
    return pid < 0 && errno == ECHILD;
}

/* false when the library's end of the socket is gone. */
static bool
watch(struct server *server, struct job *job)
{
    struct pollfd polled[] = {{.fd = server->signals, .events = POLLIN}, {.fd = BOX__SOCKET}};
    struct signalfd_siginfo ignored;

    while (!reap(job)) {
        if (poll(polled, 2, -1) < 0 && errno != EINTR)
            return false;
        if (polled[1].revents & (POLLHUP | POLLERR))
            return false;
        while (read(server->signals, &ignored, sizeof ignored) > 0)
            continue;
    }
    return true;
}

/* Whoever sleeps on a word of the dead runner is woken to find the report. */
static void
wake_library(int control)
{
    struct box__ctl *ctl = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, control, 0);

    if (ctl == MAP_FAILED)
        return;
    box__futex_wake(&ctl->ready);
    box__futex_wake(&ctl->armed);
    box__futex_wake(&ctl->done);
    munmap(ctl, 4096);
}

static bool
run(struct server *server, struct job *job)
{
    bool go_on = true;

    if (job->fd_count < 2 || start_runner(server, job) != 0) {
        reply_failed(errno, "the runner cannot be started");
    } else if (watch(server, job)) {
        go_on = box__send(BOX__SOCKET, &job->ended, sizeof job->ended, NULL, 0) >= 0;
        wake_library(job->fds[1]);
    } else {
        kill(job->pid, SIGKILL);
        go_on = false;
    }
    box__close_all(job->fds, job->fd_count);
    return go_on;
}

int
serve(const struct box__order *order)
{
    struct server server = {0};
    struct box__reply ready = {.kind = BOX__READY};

    if (start(&server, order) != 0)
        return reply_failed(errno, server.jail.text);
    ready.features = server.jail.features;
    if (box__send(BOX__SOCKET, &ready, sizeof ready, NULL, 0) < 0)
        return 1;
    for (;;) {
        struct job job = {0};
        struct box__reply message = {0};

        if (box__receive(BOX__SOCKET, &message, sizeof message, job.fds, BOX__FDS, &job.fd_count) <=
            0)
            return 0;
        if (!run(&server, &job))
            return 0;
    }
}
