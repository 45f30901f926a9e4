/* A program in a jail, seen from inside: lay what it may read, start it with the descriptors that
 * came with the order, wait for its end or for the caller's. */
#include "box/server/server_int.h"

#include "box/box.h"
#include "box/filter_int.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXTS = 256, PROCESSES = 512, STACK = 64 << 20, LOOK_MS = 20, ABOVE = 16 };

struct work {
    const struct box__order *order;
    struct jail jail;
    char *argv[TEXTS], *environment[TEXTS], *folders[TEXTS];
    char own[64]; /* without a root of our own: its folder for files */
    int fds[BOX__PROGRAM_FDS];
    pid_t pid;
};

static int
read_texts(char **list, uint32_t count, char **texts, const char *end)
{
    if (count >= TEXTS)
        return -1;
    for (uint32_t i = 0; i < count; i++) {
        if (*texts >= end)
            return -1;
        list[i] = *texts;
        *texts += strlen(*texts) + 1;
    }
    return 0;
}

static int
read_order(struct work *work, char *texts)
{
    const struct box__order *order = work->order;
    const char *end = texts + order->text_bytes;

    if (read_texts(work->argv, order->argc, &texts, end) != 0 ||
        read_texts(work->environment, order->env_count, &texts, end) != 0)
        return -1;
    return read_texts(work->folders, order->folder_count, &texts, end);
}

/* Above those that the program gets, so that one does not close another. */
static int
move_up(struct work *work, const int *fds)
{
    for (int i = 0; i < BOX__PROGRAM_FDS; i++) {
        work->fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, ABOVE);
        close(fds[i]);
        if (work->fds[i] < 0)
            return -1;
    }
    return 0;
}

static int
enter(struct work *work)
{
    work->jail.without = work->order->without;
    work->jail.tools = true;
    work->jail.folders = work->folders;
    work->jail.bytes = work->order->bytes;
    if (jail_enter(&work->jail) != 0)
        return -1;
    if (work->jail.features & (1u << BOX_MOUNTNS))
        return chdir("/tmp");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    strcpy(work->own, "/tmp/hone-box-XXXXXX");
    return mkdtemp(work->own) && chdir(work->own) == 0 ? 0 : -1;
}

/* The second lock; the first where there is no root of our own. */
static int
lock_files(const struct work *work)
{
    const char *readable[TEXTS + 12] = {"/usr",    "/bin",         "/sbin",
                                        "/lib",    "/lib32",       "/lib64",
                                        "/libx32", "/dev/urandom", JAIL_PROCESSOR};
    const char *const writable[] = {work->own[0] ? work->own : "/tmp", NULL};
    size_t count = 11;

    for (size_t i = 0; work->folders[i]; i++)
        readable[count++] = work->folders[i];
    if ((work->order->without & (1u << BOX_LANDLOCK)) || landlock_abi() == 0)
        return 0;
    return landlock_allow(readable, writable);
}

static int
set_limits(const struct work *work)
{
    const struct box__order *order = work->order;

    if (jail_limit(RLIMIT_DATA, order->address_space, order->address_space) != 0 ||
        jail_limit(RLIMIT_CPU, order->cpu_seconds, order->cpu_seconds + 1) != 0 ||
        jail_limit(RLIMIT_CORE, 0, 0) != 0 || jail_limit(RLIMIT_STACK, STACK, STACK) != 0)
        return -1;
    if (order->use_nproc && (work->jail.features & (1u << BOX_USERNS)))
        return jail_limit(RLIMIT_NPROC, PROCESSES, PROCESSES);
    return 0;
}

static _Noreturn void
become_program(struct work *work)
{
    struct box__program filter;

    for (int i = 0; i < BOX__PROGRAM_FDS; i++)
        if (dup2(work->fds[i], i) < 0)
            _exit(127);
    if (setpgid(0, 0) != 0 || close_range(BOX__PROGRAM_FDS, ~0u, 0) != 0 || lock_files(work) != 0 ||
        set_limits(work) != 0)
        _exit(127);
    if (!(work->order->without & (1u << BOX_SECCOMP))) {
        box__filter_make(&filter, BOX__FILTER_COMPILER, false);
        if (box__filter_install(&filter) != 0)
            _exit(127);
    }
    execve(work->argv[0], work->argv, work->environment);
    _exit(126);
}

/* Until it has ended or nobody waits for it any more. */
static void
look_after(struct work *work, struct box__ended *ended)
{
    struct pollfd caller = {.fd = BOX__SOCKET, .events = POLLIN};

    for (;;) {
        if (waitpid(work->pid, &ended->status, WNOHANG) == work->pid)
            return;
        if (poll(&caller, 1, LOOK_MS) > 0)
            break;
    }
    kill(work->pid, SIGKILL);
    waitpid(work->pid, &ended->status, 0);
}

int
program(const struct box__order *order, char *texts, const int *fds, size_t fd_count)
{
    struct work work = {.order = order};
    struct box__reply ready = {.kind = BOX__STARTED};
    struct box__ended ended = {.kind = BOX__ENDED};

    if (fd_count != BOX__PROGRAM_FDS || read_order(&work, texts) != 0 || move_up(&work, fds) != 0)
        return reply_failed(EINVAL, "the order to start a program cannot be read");
    if (enter(&work) != 0)
        return reply_failed(errno, work.jail.text[0] ? work.jail.text : "no folder for a program");
    work.pid = fork();
    if (work.pid == 0)
        become_program(&work);
    if (work.pid < 0)
        return reply_failed(errno, "a program cannot be started in the jail");
    box__close_all(work.fds, BOX__PROGRAM_FDS);
    ready.features = work.jail.features;
    box__send(BOX__SOCKET, &ready, sizeof ready, NULL, 0);
    look_after(&work, &ended);
    jail_kill(&work.jail, work.pid);
    if (work.own[0])
        jail_remove(work.own);
    return box__send(BOX__SOCKET, &ended, sizeof ended, NULL, 0) < 0;
}
