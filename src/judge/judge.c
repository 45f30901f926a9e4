/* Opening the judge, and the whole verdict: build, check, measure. */
#include "judge/judge_int.h"

#include "base/clock.h"
#include "base/file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

const char *const judge_status_name[JUDGE_STATUS_COUNT] = {
#define X(id, name) name,
    JUDGE_STATUSES(X)
#undef X
};

const char *const judge_effort_name[JUDGE_EFFORT_COUNT] = {
#define X(id, name) name,
    JUDGE_EFFORTS(X)
#undef X
};

/* ---- small things ---- */

uint64_t
judge__ticks(void)
{
    return measure_ticks(&(struct measure_clock){.tsc = true});
}

uint64_t
judge__secret(void)
{
    uint32_t bits = 0;

    if (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits)
        bits = (uint32_t)judge__ticks();
    return bits;
}

enum status
judge__no_memory(struct diags *diags)
{
    diags_add(diags, DIAG_ERROR, (struct place){0}, "out of memory");
    return STATUS_MACHINE;
}

void
judge__progress(const struct judge *judge, const char *format, ...)
{
    char line[200];
    const char *lines[] = {line};
    va_list args;

    if (!judge->log)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    log_progress(judge->log, lines, 1, line, false);
}

void
judge__note(struct arena *arena, struct judge_report *report, const char *format, ...)
{
    struct buf text = buf_in(arena);
    va_list args;

    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    for (size_t i = 0; i < report->note_count; i++)
        if (!strcmp(report->notes[i], text.data))
            return;
    if (report->note_count + 1 < JUDGE_MOST_NOTES)
        report->notes[report->note_count++] = text.data;
}

/* ---- opening ---- */

static const char *
objects_folder(struct arena *arena)
{
    const char *cache = file_cache_folder(arena);
    const char *folder = cache ? file_join(arena, cache, "kernels") : NULL;

    if (folder && file_make_folder(folder, diags_create(arena, 0)) == STATUS_OK)
        return folder;
    return NULL;
}

/* Two judges that both go before all others would starve one another: the one that holds this name
 * may. A name that the system forgets with its holder, so that nothing can stay behind. */
static int
take_precedence(void)
{
    static const char name[] = "hone-realtime";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = geteuid() == 0 ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;

    memcpy(address.sun_path + 1, name, sizeof name - 1);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address,
                        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof name)) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static enum status
refuse_open_box(const struct box_machine *machine, struct diags *diags)
{
    const char *missing = "";

    for (size_t i = 0; i < BOX_FEATURE_COUNT && !*missing; i++)
        if (machine->missing[i])
            missing = machine->missing[i];
    diags_add(diags, DIAG_ERROR, (struct place){0},
              "--require-sandbox: the sandbox is %s here (%s); hone machine tells more",
              box_level_name(machine->level), missing);
    return STATUS_MACHINE;
}

enum status
judge_open(const struct judge_options *options, struct judge **result, struct diags *diags)
{
    struct arena *arena = arena_create();
    struct judge *judge;
    enum status status;

    *result = NULL;
    if (!arena)
        return judge__no_memory(diags);
    judge = arena_alloc(arena, sizeof *judge);
    judge->arena = arena;
    judge->log = options ? options->log : NULL;
    judge->realtime = take_precedence();
    status = box_open(NULL, &judge->box, diags);
    if (status == STATUS_OK && options && options->require_sandbox &&
        box_machine(judge->box)->level != BOX_FULL)
        status = refuse_open_box(box_machine(judge->box), diags);
    if (status == STATUS_OK)
        status = box_server_start(judge->box, &judge->server, diags);
    if (status != STATUS_OK) {
        judge_close(judge);
        return status;
    }
    judge->clock = measure_clock_open();
    judge->cpu_count = measure_cpus(arena, &judge->cpus);
    measure_facts_read(arena, &judge->facts);
    measure_kept_read(arena, &judge->kept);
    task_machine(arena, &judge->machine);
    judge->cache = objects_folder(arena);
    judge->key = task_machine_key(arena);
    *result = judge;
    return STATUS_OK;
}

void
judge_close(struct judge *judge)
{
    if (!judge)
        return;
    if (judge->realtime >= 0)
        close(judge->realtime);
    box_server_stop(judge->server);
    box_close(judge->box);
    arena_destroy(judge->arena);
}

bool
judge_goes_first(const struct judge *judge)
{
    return judge->realtime >= 0;
}

const struct box *
judge_jail(const struct judge *judge)
{
    return judge->box;
}

/* ---- the verdict ---- */

static void
note_what_is_open(const struct judge *judge, struct arena *arena, struct judge_report *report)
{
    const struct box_machine *machine = box_machine(judge->box);

    if (machine->level == BOX_FULL)
        return;
    for (size_t i = 0; i < BOX_FEATURE_COUNT; i++)
        if (machine->missing[i])
            judge__note(arena, report, "sandbox %s: %s", box_level_name(machine->level),
                        machine->missing[i]);
}

static void
note_what_is_not_seen(const struct judge_task *task, struct arena *arena,
                      struct judge_report *report)
{
    const struct judge__case *first = &task->cases[0];

    if (first->cannot_see)
        judge__note(arena, report, "cannot see %s: no output moves when it is redrawn alone",
                    first->cannot_see);
    if (first->ill_posed)
        judge__note(arena, report, "ill-posed: the tolerance of %s exceeds 1 %% of its size",
                    first->ill_posed);
}

enum status
judge_verdict(struct judge_task *task, struct arena *arena, const char *file, const char *text,
              size_t length, struct judge_kernel *const *baselines, size_t baseline_count,
              struct judge_kernel **kept, struct judge_report *report, struct diags *diags)
{
    struct judge_kernel *kernel = NULL;
    double start = clock_seconds();
    enum status status = judge_build(task, arena, file, text, length, &kernel, report, diags);

    if (status == STATUS_OK && report->status == JUDGE_BUILT)
        status = judge_check(task, arena, kernel, 0, report, diags);
    if (status == STATUS_OK && report->status == JUDGE_BUILT)
        status = judge_measure(task, arena, kernel, baselines, baseline_count, report, diags);
    if (status == STATUS_OK) {
        note_what_is_open(task->judge, arena, report);
        note_what_is_not_seen(task, arena, report);
        if (report->status == JUDGE_CORRECT && !task->judge->machine.measured)
            judge__note(arena, report,
                        "the speed of light is estimated, not measured: hone machine measures it");
    }
    if (kept)
        *kept = NULL;
    if (kept && status == STATUS_OK && report->status == JUDGE_CORRECT)
        *kept = kernel;
    else
        judge_kernel_close(kernel);
    report->seconds = clock_seconds() - start;
    return status;
}
