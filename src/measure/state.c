/* How quiet the machine is now: pairs of the same work tell the noise; the kernel tells what the
 * host took, what other processes took and how long we waited. Peaks are kept, this never is. */
#include "measure/measure_int.h"

#include "measure/kernels_int.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAIRS 256
#define SAMPLE_NS 500e3
#define LEAST_NS 300e6 /* of watching: the kernel counts ticks of 10 ms */
#define MOST_PROCESSES 4096
#define BUSY_SHARE 0.1

/* Limits of "fit": pairs above 5 % need more rounds than a decision has (doc/measuring.md). */
#define MOST_NOISE 0.05
#define MOST_STEAL 0.05
#define MOST_WAITED 0.1

/* ---- other processes ---- */

struct processes {
    size_t count;
    struct measure_busy list[MOST_PROCESSES];
};

static void
list_processes(struct processes *processes)
{
    DIR *folder = opendir("/proc");
    processes->count = 0;
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char path[300], text[1024];
        if (!isdigit((unsigned char)entry->d_name[0]) || processes->count == MOST_PROCESSES)
            continue;
        snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
        struct measure_busy *process = &processes->list[processes->count];
        if (measure__read(path, text, sizeof text) && measure_parse_process(text, process) &&
            process->pid != getpid())
            processes->count++;
    }
    if (folder != NULL)
        closedir(folder);
}

static uint64_t
ticks_before(const struct processes *before, pid_t pid)
{
    for (size_t i = 0; i < before->count; i++)
        if (before->list[i].pid == pid)
            return before->list[i].ticks;
    return 0;
}

static void
insert_busy(struct measure_state *state, const struct measure_busy *process)
{
    unsigned at = state->busy_count;
    while (at > 0 && state->busy[at - 1].share < process->share)
        at--;
    if (at == MEASURE_MOST_BUSY)
        return;
    if (state->busy_count < MEASURE_MOST_BUSY)
        state->busy_count++;
    memmove(&state->busy[at + 1], &state->busy[at], (state->busy_count - 1 - at) * sizeof *process);
    state->busy[at] = *process;
}

static void
find_busy(const struct processes *before, struct processes *after, double seconds,
          struct measure_state *state)
{
    double ticks = seconds * (double)sysconf(_SC_CLK_TCK);
    for (size_t i = 0; i < after->count; i++) {
        struct measure_busy *process = &after->list[i];
        uint64_t earlier = ticks_before(before, process->pid);
        if (process->ticks > earlier)
            process->share = (double)(process->ticks - earlier) / ticks;
        if (process->share > BUSY_SHARE)
            insert_busy(state, process);
    }
}

/* ---- noise ---- */

static void
burn(void *context, size_t calls)
{
    const struct kernels *kernels = context;
    kernels->peak_f32(1000 * calls);
}

static void
take_noise(struct arena *arena, const struct measure_clock *clock, struct measure_state *state)
{
    struct measure_work work = {burn, (void *)measure__kernels_here()};
    struct measure_decision *same = measure_decision_create(arena, &measure_usual_rule);
    double *sizes = arena_array(arena, PAIRS, sizeof *sizes);
    size_t calls = measure_calls_for(clock, &work, SAMPLE_NS);
    for (unsigned i = 0; i < PAIRS; i++) {
        double a = measure_sample(clock, &work, calls), b = measure_sample(clock, &work, calls);
        bool swap = measure_decision_candidate_first(same);
        sizes[i] = fabs(log(b / a));
        measure_decision_tell(same, swap ? b : a, swap ? a : b, false);
    }
    state->noise = measure_summarise(sizes, PAIRS).median;
    state->same = measure_decision_outcome(same);
}

/* ---- all of it ---- */

struct watch {
    uint64_t ticks;
    struct measure_schedstat wait;
    struct measure_ticks_of system;
};

static struct watch
look(const struct measure_clock *clock)
{
    struct watch watch = {0};
    char text[512];
    if (measure__read("/proc/stat", text, sizeof text))
        measure_parse_stat(text, &watch.system);
    measure_read_schedstat(0, &watch.wait);
    watch.ticks = measure_ticks(clock);
    return watch;
}

static double
share(uint64_t from, uint64_t to, double whole)
{
    return whole > 0 && to > from ? (double)(to - from) / whole : 0;
}

/* What was used and was not ours, of all processors. */
static double
share_of_others(const struct watch *from, const struct watch *to)
{
    double all = (double)(to->system.all - from->system.all);
    double idle = (double)(to->system.idle - from->system.idle);
    double steal = (double)(to->system.steal - from->system.steal);
    double ours = (double)(to->wait.run_ns - from->wait.run_ns) * 1e-9;
    double used = all - idle - steal - ours * (double)sysconf(_SC_CLK_TCK);
    return all > 0 && used > 0 ? used / all : 0;
}

static void
pause_until(const struct measure_clock *clock, uint64_t from)
{
    double left = LEAST_NS - measure_ns(clock, from, measure_ticks(clock));
    struct timespec pause = {.tv_nsec = left > 0 ? (long)left : 0};
    nanosleep(&pause, NULL);
}

void
measure_state_read(struct arena *arena, const struct measure_clock *clock,
                   struct measure_state *state)
{
    int *cpus;
    struct processes *before = arena_alloc(arena, sizeof *before);
    struct processes *after = arena_alloc(arena, sizeof *after);
    *state = (struct measure_state){0};
    measure_cpus(arena, &cpus);
    list_processes(before);
    struct measure_pin pin = measure_pin(cpus[0]);
    state->pinned = pin.pinned;
    measure__warm_up(clock);
    struct watch from = look(clock);
    take_noise(arena, clock, state);
    struct watch middle = look(clock);
    pause_until(clock, from.ticks);
    struct watch to = look(clock);
    measure_unpin(&pin);
    list_processes(after);
    state->waited =
        share(from.wait.wait_ns, middle.wait.wait_ns, measure_ns(clock, from.ticks, middle.ticks));
    state->steal =
        share(from.system.steal, to.system.steal, (double)(to.system.all - from.system.all));
    state->others = share_of_others(&from, &to);
    find_busy(before, after, measure_ns(clock, from.ticks, to.ticks) * 1e-9, state);
    measure_judge_state(arena, state);
}

static void
add_reason(struct measure_state *state, const char *reason)
{
    if (state->reason_count < MEASURE_MOST_REASONS)
        state->reason[state->reason_count++] = reason;
}

void
measure_judge_state(struct arena *arena, struct measure_state *state)
{
    state->reason_count = 0;
    if (!(state->noise <= MOST_NOISE))
        add_reason(state, arena_printf(arena, "noise %.1f %% (%.0f %% at most)", 100 * state->noise,
                                       100 * MOST_NOISE));
    if (!(state->waited <= MOST_WAITED))
        add_reason(state, arena_printf(arena, "it had to wait for its core %.0f %% of the time",
                                       100 * state->waited));
    if (!(state->steal <= MOST_STEAL))
        add_reason(state,
                   arena_printf(arena, "the host took %.0f %% of the time", 100 * state->steal));
    if (state->same.verdict == MEASURE_FASTER || state->same.verdict == MEASURE_SLOWER)
        add_reason(state, "the same work looked different from itself");
    state->fit = state->reason_count == 0;
}
