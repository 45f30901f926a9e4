/* The clock. The time stamp counter is read in some 10 ns and without entering the system, but only
 * counts time where it runs at one rate in every state of the processor and is the same on all
 * cores: the processor says the first, the kernel's choice of clock source vouches for the rest. */
#include "measure/measure_int.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define CALIBRATION_NS 20000000L
#define READINGS 16
#define PAIRS 257

static bool
counter_is_steady(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d = 0;
    char source[64];
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
        return false;
    return measure__read(MEASURE_CLOCK_SOURCE, source, sizeof source) && !strcmp(source, "tsc\n");
#else
    return false;
#endif
}

struct instant {
    uint64_t ticks, ns;
};

/* Both clocks at one time: the reading with the least time between its ends. */
static struct instant
read_both(const struct measure_clock *counter, const struct measure_clock *system)
{
    struct instant best = {0};
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < READINGS; i++) {
        uint64_t before = measure_ticks(counter), ns = measure_ticks(system);
        uint64_t after = measure_ticks(counter);
        if (after - before < least) {
            least = after - before;
            best = (struct instant){.ticks = before + (after - before) / 2, .ns = ns};
        }
    }
    return best;
}

static double
calibrate(const struct measure_clock *counter, const struct measure_clock *system)
{
    const struct timespec pause = {.tv_nsec = CALIBRATION_NS};
    struct instant from = read_both(counter, system);
    nanosleep(&pause, NULL);
    struct instant to = read_both(counter, system);
    return to.ticks > from.ticks ? (double)(to.ns - from.ns) / (double)(to.ticks - from.ticks) : 0;
}

struct measure_clock
measure_clock_open(void)
{
    const struct measure_clock system = {.tsc = false, .ns_per_tick = 1};
    if (!counter_is_steady())
        return system;
    struct measure_clock counter = {.tsc = true, .ns_per_tick = 1};
    counter.ns_per_tick = calibrate(&counter, &system);
    /* Between 100 MHz and 10 GHz, or something is odd. */
    return counter.ns_per_tick > 0.1 && counter.ns_per_tick < 10 ? counter : system;
}

double
measure_clock_overhead(const struct measure_clock *clock)
{
    double ns[PAIRS];
    for (unsigned i = 0; i < PAIRS; i++) {
        uint64_t from = measure_ticks(clock);
        ns[i] = measure_ns(clock, from, measure_ticks(clock));
    }
    return measure_summarise(ns, PAIRS).median;
}
