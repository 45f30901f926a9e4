/* Starting and ending hone-box. posix_spawn() because the caller may hold gigabytes and have
 * threads: a fork would copy its page tables, and little is allowed in the child. */
#include "box/box_int.h"

#include "base/clock.h"
#include "base/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { END_MS = 5000 };

enum status
box__fault(struct box__why *why, int error, const char *what)
{
    if (error != 0)
        snprintf(why->text, sizeof why->text, "%s (%s)", what, strerror(error));
    else
        snprintf(why->text, sizeof why->text, "%s", what);
    return STATUS_MACHINE;
}

enum status
box__report(enum status status, const struct box__why *why, struct diags *diags)
{
    if (status != STATUS_OK)
        diags_add(diags, DIAG_ERROR, (struct place){0}, "%s", why->text);
    return status;
}

static int
spawn_program(const char *program, int socket, const char *const *environment, pid_t *pid)
{
    static const char *const nothing[] = {NULL};
    const char *argv[] = {"hone-box", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, usual;
    int error;

    if (fault_hit(FAULT_FORK))
        return EAGAIN;
    if ((error = posix_spawn_file_actions_init(&actions)) != 0)
        return error;
    if ((error = posix_spawnattr_init(&attributes)) != 0)
        goto out;
    sigemptyset(&none);
    sigfillset(&usual);
    error = posix_spawn_file_actions_adddup2(&actions, socket, BOX__SOCKET);
    if (!error)
        error = posix_spawn_file_actions_addclosefrom_np(&actions, BOX__SOCKET + 1);
    if (!error)
        error = posix_spawnattr_setsigmask(&attributes, &none);
    if (!error)
        error = posix_spawnattr_setsigdefault(&attributes, &usual);
    if (!error) /* a group of its own: the terminal's Ctrl-C is for the caller to answer */
        error = posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    if (!error)
        error = posix_spawn(pid, program, &actions, &attributes, (char *const *)argv,
                            (char *const *)(environment ? environment : nothing));
    posix_spawnattr_destroy(&attributes);
out:
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static int
send_order(int socket, const struct box__order *order, const char *texts, const int *fds,
           size_t fd_count)
{
    size_t bytes = sizeof *order + order->text_bytes;
    char *packet;
    ssize_t sent;

    if (bytes > BOX__PACKET - 1)
        return E2BIG;
    packet = fault_hit(FAULT_ALLOC) ? NULL : malloc(bytes);
    if (!packet)
        return ENOMEM;
    memcpy(packet, order, sizeof *order);
    if (order->text_bytes > 0)
        memcpy(packet + sizeof *order, texts, order->text_bytes);
    sent = box__send(socket, packet, bytes, fds, fd_count);
    free(packet);
    return sent < 0 ? errno : 0;
}

/* A copy above the number that hone-box expects: dup2() of a descriptor onto itself would leave it
 * closed on exec. */
static int
move_up(int fd)
{
    int moved = fd > BOX__SOCKET ? fd : fcntl(fd, F_DUPFD_CLOEXEC, BOX__SOCKET + 1);

    if (moved != fd)
        close(fd);
    return moved;
}

enum status
box__start(const struct box *box, const struct box__order *order, const char *texts, const int *fds,
           size_t fd_count, const char *const *environment, struct box__process *process,
           struct box__why *why)
{
    int ends[2], error;

    *process = (struct box__process){.socket = -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return box__fault(why, errno, "no socket for hone-box");
    ends[1] = move_up(ends[1]);
    error = ends[1] < 0 ? errno : spawn_program(box->program, ends[1], environment, &process->pid);
    if (ends[1] >= 0)
        close(ends[1]);
    process->socket = ends[0];
    if (error) {
        close(ends[0]);
        *process = (struct box__process){.socket = -1};
        return box__fault(why, error, "hone-box cannot be started");
    }
    error = send_order(process->socket, order, texts, fds, fd_count);
    if (error) {
        box__stop(process);
        return box__fault(why, error, "hone-box cannot be given its order");
    }
    return STATUS_OK;
}

static bool
gone(pid_t pid)
{
    pid_t got;

    do
        got = waitpid(pid, NULL, WNOHANG);
    while (got < 0 && errno == EINTR);
    return got != 0; /* also if somebody else has reaped it */
}

void
box__stop(struct box__process *process)
{
    struct timespec nap = {0, 100000};
    double end = clock_seconds() + END_MS / 1e3;

    if (process->socket >= 0)
        close(process->socket);
    if (process->pid > 0) {
        while (!gone(process->pid)) {
            if (clock_seconds() > end)
                kill(process->pid, SIGKILL); /* what is inside dies with it */
            nanosleep(&nap, NULL);
        }
    }
    *process = (struct box__process){.socket = -1};
}

static enum status
wait_readable(int socket, double seconds, struct box__why *why)
{
    double end = clock_seconds() + seconds;

    for (;;) {
        struct pollfd polled = {.fd = socket, .events = POLLIN};
        double left = end - clock_seconds();
        int ready = left > 0 ? poll(&polled, 1, (int)(left * 1000) + 1) : 0;

        if (ready > 0)
            return STATUS_OK;
        if (ready == 0)
            return box__fault(why, 0, "hone-box does not answer");
        if (errno != EINTR)
            return box__fault(why, errno, "hone-box cannot be waited for");
    }
}

static enum status
check_packet(const void *packet, size_t got, size_t least, struct box__why *why)
{
    const struct box__reply *reply = packet;

    if (got >= sizeof *reply && reply->kind == BOX__FAILED)
        return box__fault(why, reply->error, reply->text);
    return got >= least ? STATUS_OK : box__fault(why, 0, "hone-box was killed");
}

enum status
box__answer_of(struct box__process *process, void *packet, size_t least, size_t room, int *fds,
               size_t most, size_t *fd_count, double seconds, struct box__why *why)
{
    union {
        struct box__reply reply;
        struct box__compiled compiled;
        struct box__ended ended;
        struct box__probed probed;
    } any;
    size_t count = 0;
    ssize_t got;

    if (wait_readable(process->socket, seconds, why) != STATUS_OK)
        return STATUS_MACHINE;
    memset(&any, 0, sizeof any);
    got = box__receive(process->socket, &any, sizeof any, fds, most, &count);
    if (check_packet(&any, got < 0 ? 0 : (size_t)got, least, why) != STATUS_OK) {
        box__close_all(fds, count);
        return STATUS_MACHINE;
    }
    memcpy(packet, &any, room < sizeof any ? room : sizeof any);
    if (fd_count)
        *fd_count = count;
    return STATUS_OK;
}
