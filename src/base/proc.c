/* Standard input is a file in memory, so that only the two outputs have to be pumped. What they may
 * hold is allocated before the child starts: the arena may jump away when memory is short, and
 * nobody would reap the child. Pages that are never written cost nothing. */
#include "base/proc.h"
#include "base/clock.h"

#include "base/fault.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    DEFAULT_LIMIT = 1 << 20,
    LOOK_MS = 100,      /* how often the child is looked after while its outputs are open ... */
    LOOK_CLOSED_MS = 2, /* ... and when both are closed */
    READS = 64,         /* in a row, lest a child that never stops writing escape its time limit */
};

struct output {
    int fd; /* -1: closed */
    char *bytes;
    size_t length, limit;
};

struct proc {
    pid_t pid;
    struct output outputs[2];
    double end; /* when its time is up */
    int status; /* as waitpid() gives it */
    bool ended, timed_out;
};

static void
close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Starting. Functions return 0 or an errno. */

static int
open_input(const struct proc_request *request, int *fd)
{
    size_t done = 0;

    if (!request->input) {
        *fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        return *fd < 0 ? errno : 0;
    }
    *fd = memfd_create("input", MFD_CLOEXEC);
    if (*fd < 0)
        return errno;
    while (done < request->input_length) {
        ssize_t written = write(*fd, request->input + done, request->input_length - done);

        if (written < 0 && errno != EINTR)
            return errno;
        done += written > 0 ? (size_t)written : 0;
    }
    return lseek(*fd, 0, SEEK_SET) < 0 ? errno : 0;
}

static int
add_actions(posix_spawn_file_actions_t *actions, const struct proc_request *request, int input,
            const int writers[2])
{
    int error = posix_spawn_file_actions_adddup2(actions, input, 0);

    if (!error)
        error = posix_spawn_file_actions_adddup2(actions, writers[0], 1);
    if (!error)
        error = posix_spawn_file_actions_adddup2(actions, writers[1], 2);
    if (!error && request->folder)
        error = posix_spawn_file_actions_addchdir_np(actions, request->folder);
    return error;
}

/* Its own group, so that all of it can be killed; the signals as a shell would give them. */
static int
set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, usual;
    int error;

    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGQUIT);
    error = posix_spawnattr_setpgroup(attributes, 0);
    if (!error)
        error = posix_spawnattr_setsigmask(attributes, &none);
    if (!error)
        error = posix_spawnattr_setsigdefault(attributes, &usual);
    if (!error)
        error = posix_spawnattr_setflags(
            attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    return error;
}

static int
spawn(struct proc *proc, const struct proc_request *request, int input, const int writers[2])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error;

    if (fault_hit(FAULT_FORK))
        return EAGAIN;
    error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error)
        goto out;
    error = add_actions(&actions, request, input, writers);
    if (!error)
        error = set_attributes(&attributes);
    if (!error)
        error = posix_spawnp(&proc->pid, request->argv[0], &actions, &attributes,
                             (char *const *)request->argv, environ);
    posix_spawnattr_destroy(&attributes);
out:
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static int
open_output(struct output *output, int *writer)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    output->fd = ends[0];
    *writer = ends[1];
    return fcntl(output->fd, F_SETFL, O_NONBLOCK) < 0 ? errno : 0;
}

static int
start(struct proc *proc, const struct proc_request *request)
{
    int input = -1, writers[2] = {-1, -1};
    int error = open_input(request, &input);

    for (int i = 0; i < 2 && !error; i++)
        error = open_output(&proc->outputs[i], &writers[i]);
    if (!error)
        error = spawn(proc, request, input, writers);
    close_fd(&input);
    close_fd(&writers[0]);
    close_fd(&writers[1]);
    return error;
}

/* Waiting. */

/* Reads what is there. What is beyond the limit is read too, and dropped, lest the child wait. */
static void
drain(struct output *output)
{
    char dropped[16 * 1024];

    for (int reads = 0; reads < READS && output->fd >= 0; reads++) {
        size_t room = output->limit - output->length;
        ssize_t got = room > 0 ? read(output->fd, output->bytes + output->length, room)
                               : read(output->fd, dropped, sizeof dropped);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (got <= 0)
            close_fd(&output->fd);
        else if (room > 0)
            output->length += (size_t)got;
    }
}

static void
reap(struct proc *proc, int options)
{
    pid_t pid;

    do
        pid = waitpid(proc->pid, &proc->status, options);
    while (pid < 0 && errno == EINTR);
    if (pid < 0)
        proc->status = -1; /* the program ignores SIGCHLD: how it ended cannot be known */
    proc->ended = pid != 0;
}

/* Waits for output, but not for long: a grandchild that lives on may hold the pipes open. */
static void
wait_a_little(struct proc *proc, double left)
{
    struct pollfd polled[2];
    nfds_t count = 0;
    double ms;

    for (int i = 0; i < 2; i++)
        if (proc->outputs[i].fd >= 0)
            polled[count++] = (struct pollfd){.fd = proc->outputs[i].fd, .events = POLLIN};
    ms = fmin(count > 0 ? LOOK_MS : LOOK_CLOSED_MS, fmax(0, ceil(left * 1000)));
    poll(polled, count, (int)ms);
}

static void
drain_both(struct proc *proc)
{
    drain(&proc->outputs[0]);
    drain(&proc->outputs[1]);
}

static void
kill_all(struct proc *proc)
{
    kill(-proc->pid, SIGKILL);
    reap(proc, 0);
}

bool
proc_step(struct proc *proc)
{
    if (!proc->ended && clock_seconds() >= proc->end) {
        kill_all(proc);
        proc->timed_out = true;
    }
    drain_both(proc);
    if (!proc->ended)
        reap(proc, WNOHANG);
    return proc->ended;
}

size_t
proc_fds(const struct proc *proc, int fds[2])
{
    size_t count = 0;

    for (int i = 0; i < 2; i++)
        if (proc->outputs[i].fd >= 0)
            fds[count++] = proc->outputs[i].fd;
    return count;
}

const char *
proc_out_text(const struct proc *proc)
{
    return proc->outputs[0].bytes;
}

size_t
proc_out_length(const struct proc *proc)
{
    return proc->outputs[0].length;
}

static void
fill_result(struct proc_result *result, const struct proc *proc)
{
    const struct output *out = &proc->outputs[0], *err = &proc->outputs[1];
    int status = proc->status;

    result->timed_out = proc->timed_out;
    result->exit_code = status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result->signal = status != -1 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    result->out = out->bytes;
    result->err = err->bytes;
    result->out_length = out->length;
    result->err_length = err->length;
}

static struct output
output_create(struct arena *arena, size_t limit)
{
    if (limit == 0)
        limit = DEFAULT_LIMIT;
    return (struct output){.fd = -1, .bytes = arena_alloc(arena, limit + 1), .limit = limit};
}

struct proc *
proc_start(struct arena *arena, const struct proc_request *request, struct proc_result *result)
{
    struct proc *proc = arena_alloc(arena, sizeof *proc);
    int error;

    assert(request->argv && request->argv[0]);
    *result = (struct proc_result){.exit_code = -1};
    for (int i = 0; i < 2; i++)
        proc->outputs[i] = output_create(arena, request->output_limit);
    proc->end = request->seconds > 0 ? clock_seconds() + request->seconds : INFINITY;
    error = start(proc, request);
    if (!error)
        return proc;
    close_fd(&proc->outputs[0].fd);
    close_fd(&proc->outputs[1].fd);
    fill_result(result, proc);
    result->exit_code = -1;
    result->err =
        arena_printf(arena, "%s: cannot be started (%s)", request->argv[0], strerror(error));
    result->err_length = strlen(result->err);
    return NULL;
}

void
proc_end(struct proc *proc, struct proc_result *result)
{
    if (!proc->ended)
        kill_all(proc);
    drain_both(proc);
    close_fd(&proc->outputs[0].fd);
    close_fd(&proc->outputs[1].fd);
    fill_result(result, proc);
}

enum status
proc_run(struct arena *arena, const struct proc_request *request, struct proc_result *result)
{
    struct proc *proc = proc_start(arena, request, result);

    if (!proc)
        return STATUS_MACHINE;
    while (!proc_step(proc))
        wait_a_little(proc, proc->end - clock_seconds());
    proc_end(proc, result);
    return STATUS_OK;
}

static bool
is_program(const char *path)
{
    struct stat facts;

    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && access(path, X_OK) == 0;
}

const char *
proc_find(struct arena *arena, const char *name)
{
    const char *path = getenv("PATH");
    size_t length;

    if (*name == '\0')
        return NULL;
    if (strchr(name, '/'))
        return is_program(name) ? arena_strdup(arena, name) : NULL;
    if (!path)
        path = "/usr/local/bin:/usr/bin:/bin";
    for (;; path += length + 1) {
        const char *program;

        length = strcspn(path, ":");
        program = length > 0 ? arena_printf(arena, "%.*s/%s", (int)length, path, name)
                             : arena_printf(arena, "./%s", name);
        if (is_program(program))
            return program;
        if (path[length] == '\0')
            return NULL;
    }
}
