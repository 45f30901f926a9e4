/* A Python that answers questions: one JSON object a line each way.
 *
 * Its standard input and output are one socket, its standard error a file in memory of which the
 * last line is shown when it dies, and descriptor 3 the memory for tensors. It dies with us. */
#include "bridge/process_int.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "task/task.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DESCRIPTORS = 4, START_SECONDS = 120, TAIL = 4096 };

enum { GUEST_CPU_SECONDS = 1800 };

#define LARGEST_ANSWER ((size_t)64 << 20)
#define LARGEST_GUEST ((size_t)16 << 30) /* where the machine does not say what is free */
#define GUEST_FILES ((size_t)256 << 20)

/* ---- starting ---- */

/* What glibc needs to be told in order to keep its memory, on huge pages: the kernels that it is
 * compared with have their buffers there, too. */
static const char *const warm[] = {
    "MALLOC_MMAP_THRESHOLD_=8589934592", "MALLOC_TRIM_THRESHOLD_=17179869184",
    "MALLOC_TOP_PAD_=1073741824", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1", NULL};

static bool
is_malloc_setting(const char *variable)
{
    return text_starts(variable, "MALLOC_") || text_starts(variable, "GLIBC_TUNABLES=");
}

/* Ours without what concerns the allocator, then what the kind needs. */
static const char *const *
environment_of(struct arena *arena, enum bridge__kind kind, unsigned threads)
{
    size_t count = 0, used = 0;
    while (environ[count] != NULL)
        count++;
    const char **result = arena_array(arena, count + 12, sizeof *result);
    for (size_t i = 0; i < count && kind != BRIDGE__BOXED; i++)
        if (!is_malloc_setting(environ[i]) && !text_starts(environ[i], "OMP_NUM_THREADS="))
            result[used++] = environ[i];
    for (size_t i = 0; warm[i] != NULL && kind == BRIDGE__WARM; i++)
        result[used++] = warm[i];
    if (kind == BRIDGE__BOXED) {
        result[used++] = "PATH=/usr/bin:/bin";
        result[used++] = "HOME=/tmp";
        result[used++] = "TMPDIR=/tmp";
        result[used++] = "LC_ALL=C.UTF-8";
        result[used++] = "USER=guest";
    }
    if (kind == BRIDGE__WARM && file_cache_folder(arena) != NULL)
        result[used++] = arena_printf(arena, "HONE_PACKAGES=%s/packages", file_cache_folder(arena));
    result[used++] = arena_printf(arena, "OMP_NUM_THREADS=%u", threads);
    result[used++] = "TORCHINDUCTOR_COMPILE_THREADS=1"; /* workers would outlive us */
    result[used++] = "PYTHONDONTWRITEBYTECODE=1";
    return result;
}

static const char *
starting_text(void)
{
    const struct bridge_file *file = bridge__files;
    while (strcmp(file->path, "worker/start.py") != 0)
        file++;
    return file->text;
}

/* 0 or an errno. */
static int
spawn_plain(struct bridge__process *process, const char *const *argv,
            const char *const *environment, const int fds[DESCRIPTORS])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, usual;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    if ((error = posix_spawnattr_init(&attributes)) != 0)
        goto out;
    sigemptyset(&none);
    sigfillset(&usual);
    for (int i = 0; i < DESCRIPTORS && !error; i++)
        error = posix_spawn_file_actions_adddup2(&actions, fds[i], i);
    if (!error)
        error = posix_spawn_file_actions_addclosefrom_np(&actions, DESCRIPTORS);
    if (!error)
        error = posix_spawnattr_setsigmask(&attributes, &none);
    if (!error)
        error = posix_spawnattr_setsigdefault(&attributes, &usual);
    if (!error)
        error = posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (!error)
        error = posix_spawn(&process->pid, argv[0], &actions, &attributes, (char *const *)argv,
                            (char *const *)environment);
    posix_spawnattr_destroy(&attributes);
out:
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* A descriptor above those that the child has: dup2() onto one of them would close another. */
static int
above(int fd)
{
    int moved = fd < 0 || fd >= DESCRIPTORS ? fd : fcntl(fd, F_DUPFD_CLOEXEC, DESCRIPTORS);
    if (moved != fd)
        close(fd);
    return moved;
}

static enum status
fault(struct diags *diags, int error, const char *what)
{
    diags_add(diags, DIAG_ERROR, (struct place){0}, "%s (%s)", what, strerror(error));
    return STATUS_MACHINE;
}

static enum status
open_descriptors(struct bridge__process *process, int *theirs, struct diags *diags)
{
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return fault(diags, errno, "no socket for PyTorch");
    process->wire = ends[0];
    *theirs = above(ends[1]);
    process->said = above(memfd_create("said", MFD_CLOEXEC));
    process->memory = above(memfd_create("tensors", MFD_CLOEXEC));
    if (*theirs < 0 || process->said < 0 || process->memory < 0)
        return fault(diags, errno, "no memory to share with PyTorch");
    return STATUS_OK;
}

/* What is free now, in bytes, less a reserve: what a module may use. */
static size_t
memory_for_guest(void)
{
    double available = task_free_bytes();
    return isfinite(available) ? (size_t)(0.7 * available) : LARGEST_GUEST;
}

static enum status
spawn_boxed(struct bridge__process *process, const struct bridge__place *place,
            const char *const *argv, const char *const *environment, const int fds[DESCRIPTORS],
            struct diags *diags)
{
    const char *const folders[] = {place->environment, place->home, NULL};
    struct box_program_request request = {.argv = argv,
                                          .environment = environment,
                                          .folders = folders,
                                          .memory = memory_for_guest(),
                                          .files = GUEST_FILES,
                                          .cpu_seconds = GUEST_CPU_SECONDS};
    memcpy(request.fds, fds, sizeof request.fds);
    enum status status = box_open(NULL, &process->box, diags);
    if (status == STATUS_OK)
        status = box_program_start(process->box, process->arena, &request, &process->boxed, diags);
    return status;
}

static enum status
spawn(struct bridge__process *process, const struct bridge__place *place, enum bridge__kind kind,
      unsigned threads, int theirs, struct diags *diags)
{
    const char *argv[] = {place->python, "-s", "-c", starting_text(), NULL};
    const int fds[DESCRIPTORS] = {theirs, theirs, process->said, process->memory};
    const char *const *environment = environment_of(process->arena, kind, threads);
    if (kind == BRIDGE__BOXED)
        return spawn_boxed(process, place, argv, environment, fds, diags);
    int error = spawn_plain(process, argv, environment, fds);
    return error == 0 ? STATUS_OK : fault(diags, error, place->python);
}

static void
put_texts(struct buf *line)
{
    for (const struct bridge_file *file = bridge__files; file->path != NULL; file++) {
        buf_puts(line, file == bridge__files ? "{" : ",");
        json_put_string(line, file->path);
        buf_puts(line, ":");
        json_put_string(line, file->text);
    }
    buf_puts(line, "}\n");
}

static enum status
greet(struct bridge__process *process, enum bridge__kind kind, unsigned threads,
      struct diags *diags)
{
    struct buf question = buf_in(process->arena);
    json_t *answer;
    put_texts(&question);
    buf_printf(&question, "{\"do\":\"hello\",\"threads\":%u,\"ahead\":%s}", threads,
               kind == BRIDGE__WARM ? "true" : "false");
    enum status status = bridge__ask(process, &question, START_SECONDS, NULL, &answer, diags);
    if (status != STATUS_OK)
        return STATUS_MACHINE;
    const char *version = json_string_value(json_object_get(answer, "torch"));
    process->version = arena_strdup(process->arena, version != NULL ? version : "?");
    json_decref(answer);
    return STATUS_OK;
}

enum status
bridge__start(struct arena *arena, const struct bridge__place *place, enum bridge__kind kind,
              unsigned threads, struct bridge__process **result, struct diags *diags)
{
    struct bridge__process *process = arena_alloc(arena, sizeof *process);
    int theirs = -1;
    *process = (struct bridge__process){.arena = arena, .wire = -1, .said = -1, .memory = -1};
    enum status status = open_descriptors(process, &theirs, diags);
    if (status == STATUS_OK)
        status = spawn(process, place, kind, threads, theirs, diags);
    if (theirs >= 0)
        close(theirs);
    if (status == STATUS_OK)
        status = greet(process, kind, threads, diags);
    if (status != STATUS_OK)
        bridge__stop(process);
    *result = status == STATUS_OK ? process : NULL;
    return status;
}

const char *
bridge__version(const struct bridge__process *process)
{
    return process->version;
}

/* ---- ending ---- */

static void
close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void
end(struct bridge__process *process)
{
    close_fd(&process->wire);
    box_program_end(process->boxed, NULL);
    process->boxed = NULL;
    if (process->pid > 0) {
        kill(-process->pid, SIGKILL); /* compilers that it started, too */
        while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        process->pid = 0;
    }
}

void
bridge__stop(struct bridge__process *process)
{
    if (process == NULL)
        return;
    end(process);
    if (process->base != NULL)
        munmap(process->base, process->bytes);
    process->base = NULL;
    close_fd(&process->said);
    close_fd(&process->memory);
    box_close(process->box);
    process->box = NULL;
}

/* The last line that it wrote, or "". */
static const char *
last_words(const struct bridge__process *process)
{
    char *text = arena_alloc(process->arena, TAIL + 1);
    off_t size = lseek(process->said, 0, SEEK_END);
    off_t from = size > TAIL ? size - TAIL : 0;
    ssize_t got = size > 0 ? pread(process->said, text, TAIL, from) : 0;
    size_t length = got > 0 ? text_clean(text, (size_t)got) : 0;
    while (length > 0 && strchr("\n ", text[length - 1]) != NULL)
        text[--length] = '\0';
    char *line = strrchr(text, '\n');
    return line != NULL ? line + 1 : text;
}

/* ---- questions ---- */

static struct place
whole(const struct source *about)
{
    return (struct place){about, 0, 0};
}

static enum status
gone(struct bridge__process *process, const struct source *about, struct diags *diags)
{
    const char *words = last_words(process), *dead = "";
    int signal = 0;
    box_program_end(process->boxed, &signal);
    process->boxed = NULL;
    end(process);
    if (signal == SIGKILL || signal == SIGSYS)
        words = signal == SIGKILL
                    ? "it was killed, perhaps because it needs more memory than there is"
                    : "it made a system call that is not allowed, the network perhaps";
    else if (signal != 0)
        dead = arena_printf(process->arena, " of signal %d (%s)", signal, strsignal(signal));
    diags_add(diags, DIAG_ERROR, whole(about), "PyTorch's process ended%s%s%s", dead,
              *words ? ": " : "; was there enough memory, or did the module end it?", words);
    return STATUS_MACHINE;
}

static enum status
late(struct bridge__process *process, double seconds, const struct source *about,
     struct diags *diags)
{
    end(process);
    diags_add(diags, DIAG_ERROR, whole(about),
              "no end after %g s: does it loop for ever? write smaller sizes", seconds);
    return STATUS_MACHINE;
}

/* 1: ready; 0: the time is up; -1: an error. */
static int
wait_for(int fd, short events, double until)
{
    for (;;) {
        struct pollfd polled = {.fd = fd, .events = events};
        double left = until - clock_seconds();
        int ready = left > 0 ? poll(&polled, 1, (int)(left * 1000) + 1) : 0;
        if (ready >= 0 || errno != EINTR)
            return ready;
    }
}

static int
send_all(struct bridge__process *process, const char *bytes, size_t count, double until)
{
    while (count > 0) {
        int ready = wait_for(process->wire, POLLOUT, until);
        if (ready <= 0)
            return ready;
        ssize_t sent = send(process->wire, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EINTR && errno != EAGAIN)
            return -1;
        bytes += sent > 0 ? sent : 0;
        count -= sent > 0 ? (size_t)sent : 0;
    }
    return 1;
}

/* Until a line has come; `line` then has it. */
static int
receive_line(struct bridge__process *process, struct buf *line, double until)
{
    char bytes[65536];
    while (line->length == 0 || line->data[line->length - 1] != '\n') {
        int ready = wait_for(process->wire, POLLIN, until);
        if (ready <= 0)
            return ready;
        ssize_t got = recv(process->wire, bytes, sizeof bytes, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN) ||
            line->length > LARGEST_ANSWER)
            return -1;
        if (got > 0)
            buf_add(line, bytes, (size_t)got);
    }
    return 1;
}

/* {"error": ..., "line": ...} */
static enum status
refused(struct arena *arena, const json_t *answer, const struct source *about, struct diags *diags)
{
    const char *error = json_string_value(json_object_get(answer, "error"));
    json_int_t line = json_integer_value(json_object_get(answer, "line"));
    struct place place = whole(about);
    if (about != NULL && line > 0)
        place.line = (uint32_t)line;
    diags_add(diags, DIAG_ERROR, place, "%s", text_printable(arena_strdup(arena, error)));
    return STATUS_INPUT;
}

enum status
bridge__ask(struct bridge__process *process, const struct buf *question, double seconds,
            const struct source *about, json_t **answer, struct diags *diags)
{
    double until = clock_seconds() + seconds;
    struct buf line = buf_in(process->arena);
    *answer = NULL;
    if (process->wire < 0) {
        diags_add(diags, DIAG_ERROR, whole(about), "PyTorch's process has ended before");
        return STATUS_MACHINE;
    }
    int done = send_all(process, question->data, question->length, until);
    if (done > 0)
        done = send_all(process, "\n", 1, until);
    if (done > 0)
        done = receive_line(process, &line, until);
    if (done == 0)
        return late(process, seconds, about, diags);
    if (done < 0)
        return gone(process, about, diags);
    *answer = json_loadb(line.data, line.length, 0, NULL);
    if (!json_is_object(*answer)) {
        json_decref(*answer);
        *answer = NULL;
        return gone(process, about, diags);
    }
    if (json_string_value(json_object_get(*answer, "error")) == NULL)
        return STATUS_OK;
    enum status status = refused(process->arena, *answer, about, diags);
    json_decref(*answer);
    *answer = NULL;
    return status;
}
