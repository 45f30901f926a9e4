/* The compile jail, seen from inside: lay the files, start the compiler under its limits, collect
 * what it says, hand over what it made.
 *
 * The compiler reads hostile text, so it is itself not trusted afterwards: everything it left
 * running is killed before its output is looked at, the output is copied into sealed memory, and
 * nothing outside ever opens a path that it could have made. */
#include "box/server/server_int.h"

#include "box/box.h"
#include "box/filter_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ARGS = 256, PROCESSES = 64, STACK = 64 << 20 };

struct work {
    const struct box__order *order;
    struct jail jail;
    char *argv[ARGS + 1];
    char *names[BOX__FDS];
    const int *fds;
    char folder[64];   /* without a root of our own: where the files lie outside */
    const char *cache; /* as the compiler is to name it; not NULL where there is one */
    char cache_option[512];
    bool own_root;
    pid_t pid;
    int output, diagnostics;
    struct box__compiled result;
};

static long
now_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static int
fail(struct work *work, const char *text)
{
    work->result.error = errno ? errno : EIO;
    snprintf(work->result.text, sizeof work->result.text, "%s", text);
    return -1;
}

/* The order. */

static char *
next_text(char **texts, const char *end)
{
    char *text = *texts;

    if (text >= end)
        return NULL;
    *texts += strlen(text) + 1;
    return text;
}

static int
read_order(struct work *work, char *texts, size_t fd_count)
{
    const struct box__order *order = work->order;
    const char *end = texts + order->text_bytes;

    if (order->argc > ARGS - 2 || order->file_count > fd_count)
        return -1;
    for (uint32_t i = 0; i < order->argc; i++)
        work->argv[i] = next_text(&texts, end);
    for (uint32_t i = 0; i < order->file_count; i++)
        work->names[i] = next_text(&texts, end);
    if (order->has_cache)
        work->jail.cache = next_text(&texts, end);
    return 0;
}

/* The jail. */

static int
copy_file(int from, int to, uint64_t most)
{
    struct stat facts;
    off_t at = 0;

    if (fstat(from, &facts) != 0)
        return -1;
    if ((uint64_t)facts.st_size > most) {
        errno = EFBIG;
        return -1;
    }
    while (at < facts.st_size)
        if (sendfile(to, from, &at, (size_t)(facts.st_size - at)) <= 0)
            return -1;
    return 0;
}

/* "-I" and the folder of the precompiled prelude stand last, where the library left room. File 0
 * is then the prelude as a text, which is laid only where that folder cannot be read: beside the
 * source it would be found first, and without its precompiled form. */
static bool
use_cache(struct work *work)
{
    char path[512];

    if (!work->cache)
        return false;
    snprintf(path, sizeof path, "%s/prelude.h.gch", work->cache);
    if (access(path, R_OK) != 0)
        return false;
    snprintf(work->cache_option, sizeof work->cache_option, "-I%s", work->cache);
    work->argv[work->order->argc] = work->cache_option;
    work->result.cached = 1;
    return true;
}

static int
lay_files(struct work *work)
{
    bool cached = use_cache(work);

    for (uint32_t i = cached ? 1 : 0; i < work->order->file_count; i++) {
        int to = open(work->names[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        int result = to < 0 ? -1 : copy_file(work->fds[i], to, UINT64_MAX);

        if (to >= 0)
            close(to);
        if (result != 0)
            return fail(work, "the source cannot be laid into the jail");
    }
    return 0;
}

static int
enter(struct work *work)
{
    const char *cache = work->jail.cache;

    work->jail.without = work->order->without;
    work->jail.tools = true;
    work->jail.bytes = 4 * work->order->output + (64 << 20);
    if (jail_enter(&work->jail) != 0)
        return fail(work, work->jail.text);
    work->own_root = work->jail.features & (1u << BOX_MOUNTNS);
    if (work->own_root) {
        work->cache = cache ? "/cache" : NULL;
        return chdir("/job") == 0 ? 0 : fail(work, "the job's folder cannot be entered");
    }
    work->cache = cache;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    strcpy(work->folder, "/tmp/hone-box-XXXXXX");
    if (!mkdtemp(work->folder) || chdir(work->folder) != 0)
        return fail(work, "no folder can be made in /tmp");
    return 0;
}

/* With a root of its own there is nothing to remove: it ends with the process. */
static void
leave(const struct work *work)
{
    if (work->folder[0])
        jail_remove(work->folder);
}

/* The compiler's process. */

static int
set_limits(const struct work *work)
{
    const struct box__order *order = work->order;

    if (jail_limit(RLIMIT_AS, order->address_space, order->address_space) != 0 ||
        jail_limit(RLIMIT_CPU, order->cpu_seconds, order->cpu_seconds + 1) != 0 ||
        jail_limit(RLIMIT_FSIZE, order->output, order->output) != 0 ||
        jail_limit(RLIMIT_CORE, 0, 0) != 0 || jail_limit(RLIMIT_STACK, STACK, STACK) != 0)
        return -1;
    if (order->use_nproc && (work->jail.features & (1u << BOX_USERNS)))
        return jail_limit(RLIMIT_NPROC, PROCESSES, PROCESSES);
    return 0;
}

/* The second lock; the first where there is no root of our own. */
static int
lock_files(const struct work *work)
{
    const char *const readable[] = {"/usr",   "/bin",    "/sbin",     "/lib", "/lib32",
                                    "/lib64", "/libx32", work->cache, NULL};
    const char *const in_jail[] = {"/job", "/tmp", NULL};
    const char *const outside[] = {work->folder, NULL};

    if ((work->order->without & (1u << BOX_LANDLOCK)) || landlock_abi() == 0)
        return 0;
    return landlock_allow(readable, work->own_root ? in_jail : outside);
}

static _Noreturn void
become_compiler(struct work *work, int output)
{
    struct box__program program;
    char temporary[96];
    const char *environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", "SOURCE_DATE_EPOCH=0", temporary,
                                 NULL};
    int none = open("/dev/null", O_RDONLY);

    snprintf(temporary, sizeof temporary, "TMPDIR=%s", work->own_root ? "/tmp" : work->folder);
    if (none != 0 && none > 0)
        dup2(none, 0);
    if (setpgid(0, 0) != 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0 ||
        close_range(3, ~0u, 0) != 0 || lock_files(work) != 0 || set_limits(work) != 0)
        _exit(127);
    if (!(work->order->without & (1u << BOX_SECCOMP))) {
        box__filter_make(&program, BOX__FILTER_COMPILER, false);
        if (box__filter_install(&program) != 0)
            _exit(127);
    }
    execve(work->argv[0], work->argv, (char *const *)environment);
    _exit(126);
}

static int
start_compiler(struct work *work)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail(work, "no pipe");
    work->output = ends[0];
    work->pid = fork();
    if (work->pid == 0)
        become_compiler(work, ends[1]);
    close(ends[1]);
    return work->pid > 0 ? 0 : fail(work, "the compiler cannot be started");
}

/* Waiting. */

static void
keep_output(struct work *work, const char *bytes, size_t count)
{
    size_t room = work->order->diagnostics - work->result.diagnostics_bytes;
    size_t kept = count < room ? count : room;

    if (kept > 0 && write(work->diagnostics, bytes, kept) == (ssize_t)kept)
        work->result.diagnostics_bytes += kept;
    work->result.diagnostics_dropped += count - kept;
}

/* Until the compiler's last process has closed its output, time is up, or nobody waits for us. */
static void
read_output(struct work *work)
{
    long end = now_ms() + (long)work->order->wall_ms;
    struct pollfd polled[] = {{.fd = work->output, .events = POLLIN}, {.fd = BOX__SOCKET}};
    char bytes[16 * 1024];

    for (;;) {
        long left = end - now_ms();
        ssize_t got;

        if (left <= 0 || (polled[1].revents & (POLLHUP | POLLERR))) {
            work->result.timed_out = 1;
            return;
        }
        if (poll(polled, 2, (int)left) <= 0 || !polled[0].revents)
            continue;
        got = read(work->output, bytes, sizeof bytes);
        if (got == 0)
            return;
        if (got > 0)
            keep_output(work, bytes, (size_t)got);
    }
}

/* An output that is closed is no end: wait for the process too, then kill whatever is left. */
static void
end_compiler(struct work *work)
{
    long end = now_ms() + (long)work->order->wall_ms;
    struct timespec nap = {0, 1000000};
    struct rusage usage;
    pid_t pid = 0;

    while (!work->result.timed_out &&
           (pid = waitpid(work->pid, &work->result.status, WNOHANG)) == 0) {
        if (now_ms() > end)
            work->result.timed_out = 1;
        nanosleep(&nap, NULL);
    }
    if (pid != work->pid) {
        kill(work->pid, SIGKILL);
        waitpid(work->pid, &work->result.status, 0);
    }
    jail_kill(&work->jail, work->pid);
    getrusage(RUSAGE_CHILDREN, &usage);
    work->result.cpu_us = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
                          (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* A regular file and no link, into memory that nobody can change any more; or -1. */
static int
take_object(struct work *work)
{
    int from = open("object", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int to = -1;
    struct stat facts;

    if (from < 0 || fstat(from, &facts) != 0 || !S_ISREG(facts.st_mode))
        goto out;
    work->result.object_too_large = (uint64_t)facts.st_size > work->order->output;
    if (work->result.object_too_large)
        goto out;
    to = memfd_create("object", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (to < 0 || copy_file(from, to, work->order->output) != 0 ||
        fcntl(to, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
        fail(work, "there is no memory for the object");
        goto out;
    }
    work->result.object_bytes = (uint64_t)facts.st_size;
    work->result.has_object = 1;
    close(from);
    return to;
out:
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    return -1;
}

static int
build(struct work *work)
{
    bool clean;

    work->diagnostics = memfd_create("diagnostics", MFD_CLOEXEC);
    if (work->diagnostics < 0)
        return fail(work, "there is no memory for the compiler's messages");
    if (enter(work) != 0 || lay_files(work) != 0 || start_compiler(work) != 0)
        return -1;
    read_output(work);
    end_compiler(work);
    if (WIFEXITED(work->result.status) && WEXITSTATUS(work->result.status) >= 126) {
        errno = ENOEXEC;
        return fail(work, WEXITSTATUS(work->result.status) == 126
                              ? "the compiler cannot be executed in the jail"
                              : "the compiler's limits cannot be set");
    }
    clean = WIFEXITED(work->result.status) && WEXITSTATUS(work->result.status) == 0;
    return clean && !work->result.timed_out ? take_object(work) : -1;
}

int
compile(const struct box__order *order, char *texts, const int *fds, size_t fd_count)
{
    struct work work = {.order = order, .fds = fds, .diagnostics = -1};
    int sent[2] = {-1, -1};
    size_t count = 0;

    work.result.kind = BOX__ENDED;
    if (read_order(&work, texts, fd_count) != 0)
        return reply_failed(EINVAL, "the order to compile cannot be read");
    sent[1] = build(&work);
    sent[0] = work.diagnostics;
    leave(&work);
    if (work.result.error != 0 || sent[0] < 0)
        work.result.has_object = 0;
    else
        count = work.result.has_object ? 2 : 1;
    return box__send(BOX__SOCKET, &work.result, sizeof work.result, sent, count) < 0;
}
