/* What would make the machine a better place to measure on. */
#include "measure/measure.h"

#include "base/buf.h"

#include <string.h>

#define MOST_NAMED 2
#define MUCH_OTHERS 0.1
#define MUCH_STEAL 0.01
#define MUCH_NOISE 0.05

static const char *
stop_busy(struct arena *arena, const struct measure_state *state)
{
    struct buf buf = buf_in(arena);
    if (state->busy_count == 0 && state->others > MUCH_OTHERS)
        return arena_printf(arena,
                            "wait for short-lived processes, a build perhaps, to end (%.0f %% "
                            "of the machine)",
                            100 * state->others);
    if (state->busy_count == 0)
        return NULL;
    buf_printf(&buf, "stop %u busy process%s (", state->busy_count,
               state->busy_count == 1 ? "" : "es");
    for (unsigned i = 0; i < state->busy_count && i < MOST_NAMED; i++) {
        const struct measure_busy *busy = &state->busy[i];
        buf_printf(&buf, "%s%s, %.0f %% of ", i ? "; " : "", busy->name, 100 * busy->share);
        if (busy->share > 1.05 || busy->cpu < 0)
            buf_puts(&buf, "a core");
        else
            buf_printf(&buf, "core %d", busy->cpu);
    }
    buf_puts(&buf, state->busy_count > MOST_NAMED ? "; ...)" : ")");
    return buf.data;
}

static const char *
raise_governor(struct arena *arena, const struct measure_facts *facts)
{
    if (facts->governor == NULL || !strcmp(facts->governor, "performance"))
        return NULL;
    return arena_printf(arena, "set the governor of the clock rate to performance (it is %s)",
                        facts->governor);
}

/* Where the processor's own counter is not the system's clock, readings cost more. */
static const char *
change_clock(struct arena *arena, const struct measure_facts *facts)
{
#if defined(__x86_64__)
    if (facts->clock_source != NULL && strcmp(facts->clock_source, "tsc") != 0)
        return arena_printf(arena, "use the clock source tsc (it is %s)", facts->clock_source);
#else
    (void)arena, (void)facts;
#endif
    return NULL;
}

unsigned
measure_advice(struct arena *arena, const struct measure_facts *facts,
               const struct measure_figures *figures, const struct measure_state *state,
               const char *advice[MEASURE_MOST_ADVICE])
{
    const char *all[MEASURE_MOST_ADVICE] = {
        stop_busy(arena, state),
        facts->hypervisor && state->steal > MUCH_STEAL ? "pin the virtual machine's cores" : NULL,
        raise_governor(arena, facts),
        change_clock(arena, facts),
        state->pinned ? NULL : "let threads be bound to cores (sched_setaffinity was refused)",
        figures->noise > MUCH_NOISE && state->fit
            ? arena_printf(arena,
                           "measure again, the figures are from a time of %.0f %% noise: "
                           "hone machine --measure",
                           100 * figures->noise)
            : NULL,
    };
    unsigned count = 0;
    for (unsigned i = 0; i < MEASURE_MOST_ADVICE; i++)
        if (all[i] != NULL)
            advice[count++] = all[i];
    return count;
}
