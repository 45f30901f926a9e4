/* One start of the compiler in its jail: what goes in, what comes out, and whose fault a failure
 * is.
 *
 * The guest's: whatever the compiler says, its breaking down, its limits. Ours: a jail that cannot
 * be built, and the machine's running out of memory, which the kernel counts for us; the compiler's
 * own words about having been killed are not proof, since the source can print the same. */
#include "box/compile_int.h"

#include "base/clock.h"
#include "base/fault.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GRACE_SECONDS = 30 };

void
box__command_arg(struct box__command *command, const char *text)
{
    assert(command->argc < sizeof command->argv / sizeof command->argv[0] - 4);
    command->argv[command->argc++] = text;
}

void
box__command_file(struct box__command *command, const char *name, const char *text, size_t length)
{
    assert(command->file_count < BOX__FDS && !strchr(name, '/'));
    command->files[command->file_count++] = (struct box_text){name, text, length};
}

/* Texts behind the order, each with its zero. */
static char *
join_texts(struct arena *arena, const struct box__command *command, struct box__order *order)
{
    size_t bytes = command->cache ? strlen(command->cache) + 1 : 0;
    char *texts, *at;

    for (uint32_t i = 0; i < command->argc; i++)
        bytes += strlen(command->argv[i]) + 1;
    for (uint32_t i = 0; i < command->file_count; i++)
        bytes += strlen(command->files[i].name) + 1;
    texts = at = arena_alloc(arena, bytes + 1);
    for (uint32_t i = 0; i < command->argc; i++)
        at = stpcpy(at, command->argv[i]) + 1;
    for (uint32_t i = 0; i < command->file_count; i++)
        at = stpcpy(at, command->files[i].name) + 1;
    if (command->cache)
        strcpy(at, command->cache);
    order->text_bytes = bytes;
    return texts;
}

static int
memory_file(const struct box_text *text)
{
    int fd = fault_hit(FAULT_ALLOC) ? -1 : memfd_create("text", MFD_CLOEXEC);
    size_t done = 0;

    while (fd >= 0 && done < text->length) {
        ssize_t written = write(fd, text->text + done, text->length - done);

        if (written < 0 && errno != EINTR) {
            close(fd);
            return -1;
        }
        done += written > 0 ? (size_t)written : 0;
    }
    return fd;
}

/* How often the kernel has killed for want of memory; 0 if it does not say. */
static long
oom_kills(void)
{
    FILE *stream = fopen("/proc/vmstat", "re");
    char name[64];
    long value, found = 0;

    if (!stream)
        return 0;
    while (fscanf(stream, "%63s %ld", name, &value) == 2)
        if (strcmp(name, "oom_kill") == 0)
            found = value;
    fclose(stream);
    return found;
}

static struct box_compile_limits
with_defaults(struct box_compile_limits limits)
{
    if (limits.wall_seconds <= 0)
        limits.wall_seconds = 20;
    if (limits.cpu_seconds <= 0)
        limits.cpu_seconds = 10;
    if (limits.memory == 0)
        limits.memory = (size_t)2 << 30;
    if (limits.output == 0)
        limits.output = (size_t)64 << 20;
    if (limits.diagnostics == 0)
        limits.diagnostics = (size_t)64 << 10;
    return limits;
}

/* What the compiler's failure is called. The words are only for people: all of it is the guest's.
 */
static void
name_failure(const struct box__compiled *compiled, const struct box_compile_limits *limits,
             struct arena *arena, struct box_compile_result *result)
{
    const char *said = result->diagnostics;

    result->build = BOX_BUILD_REFUSED;
    result->reason = "it does not compile";
    if (compiled->timed_out || strstr(said, "CPU time limit exceeded") ||
        WTERMSIG(compiled->status) == SIGXCPU) {
        result->build = BOX_BUILD_TIMEOUT;
        result->reason =
            compiled->timed_out
                ? arena_printf(arena, "the compiler took more than %g s", limits->wall_seconds)
                : arena_printf(arena, "the compiler took more than %g s of CPU time",
                               limits->cpu_seconds);
    } else if (compiled->object_too_large || strstr(said, "File size limit exceeded") ||
               strstr(said, "No space left on device") || strstr(said, "file truncated") ||
               strstr(said, "File too large")) {
        result->build = BOX_BUILD_OUTPUT;
        result->reason =
            arena_printf(arena, "the compiler wrote more than %zu MB", limits->output >> 20);
    } else if (strstr(said, "out of memory") || strstr(said, "virtual memory exhausted") ||
               strstr(said, "memory exhausted") || strstr(said, "Cannot allocate memory")) {
        result->build = BOX_BUILD_MEMORY;
        result->reason = arena_printf(arena, "the compiler took more than %zu MB of memory",
                                      limits->memory >> 20);
    } else if (WIFSIGNALED(compiled->status) || strstr(said, "internal compiler error") ||
               strstr(said, "signal terminated program")) {
        result->build = BOX_BUILD_CRASHED;
        result->reason = "the compiler broke down";
    }
}

static char *
read_diagnostics(struct arena *arena, int fd, size_t bytes)
{
    char *text = arena_alloc(arena, bytes + 1);
    size_t done = 0;

    while (done < bytes) {
        ssize_t got = pread(fd, text + done, bytes - done, (off_t)done);

        if (got <= 0)
            break;
        done += (size_t)got;
    }
    for (size_t i = 0; i < done; i++)
        if (text[i] == '\0')
            text[i] = '?';
    return text;
}

static enum status
exchange(const struct box *box, const struct box__order *order, const char *texts,
         const struct box__command *command, struct box__compiled *compiled, int fds[2],
         struct box__why *why)
{
    struct box__process process;
    int files[BOX__FDS];
    enum status status = STATUS_OK;
    size_t made = 0, count = 0;

    while (made < command->file_count && status == STATUS_OK) {
        files[made] = memory_file(&command->files[made]);
        if (files[made++] < 0)
            status = box__fault(why, errno, "no memory for the source");
    }
    if (status == STATUS_OK)
        status = box__start(box, order, texts, files, made, NULL, &process, why);
    box__close_all(files, made);
    if (status != STATUS_OK)
        return status;
    status = box__answer_of(&process, compiled, sizeof *compiled, sizeof *compiled, fds, 2, &count,
                            2 * command->limits.wall_seconds + GRACE_SECONDS, why);
    box__stop(&process);
    if (status == STATUS_OK && (compiled->error != 0 || count < 1)) {
        box__close_all(fds, count);
        return box__fault(why, compiled->error, compiled->text);
    }
    if (status == STATUS_OK && count < 2)
        fds[1] = -1;
    return status;
}

/* The arena may jump away for want of memory, so the descriptors are then in nobody's hands: what
 * the result needs is allocated before they exist. */
enum status
box__command_run(const struct box *box, struct arena *arena, const struct box__command *given,
                 struct box_compile_result *result, struct box__why *why)
{
    struct box__command command = *given;
    struct box__order order = {.verb = BOX__COMPILE,
                               .without = box__without(box),
                               .use_nproc = box->nproc_counts,
                               .argc = given->argc,
                               .file_count = given->file_count,
                               .has_cache = given->cache != NULL};
    struct box__compiled compiled;
    double start = clock_seconds();
    long killed = oom_kills();
    int fds[2];
    char *texts;
    enum status status;

    *result = (struct box_compile_result){.object = -1, .reason = "", .diagnostics = ""};
    command.limits = with_defaults(given->limits);
    order.wall_ms = (uint64_t)(command.limits.wall_seconds * 1000);
    order.cpu_seconds = (uint64_t)(command.limits.cpu_seconds + 0.999);
    order.address_space = command.limits.memory;
    order.output = command.limits.output;
    order.diagnostics = command.limits.diagnostics;
    texts = join_texts(arena, &command, &order);
    status = exchange(box, &order, texts, &command, &compiled, fds, why);
    if (status != STATUS_OK)
        return status;
    result->diagnostics_length = compiled.diagnostics_bytes;
    result->diagnostics_dropped = compiled.diagnostics_dropped;
    result->diagnostics = read_diagnostics(arena, fds[0], compiled.diagnostics_bytes);
    close(fds[0]);
    result->precompiled = compiled.cached;
    result->object = fds[1];
    result->object_bytes = compiled.object_bytes;
    if (fds[1] < 0)
        name_failure(&compiled, &command.limits, arena, result);
    result->seconds = clock_seconds() - start;
    if (fds[1] < 0 && !compiled.timed_out && oom_kills() != killed &&
        strstr(result->diagnostics, "Killed"))
        return box__fault(why, 0, "the compiler was killed: this machine is out of memory");
    return STATUS_OK;
}
