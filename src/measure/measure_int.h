/* What the files of measure share. */
#ifndef HONE_MEASURE_MEASURE_INT_H
#define HONE_MEASURE_MEASURE_INT_H

#include "measure/measure.h"

#define MEASURE_CLOCK_SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

/* The beginning of a file of /proc or /sys, which have no size; false: none, or empty. */
bool
measure__read(const char *path, char *text, size_t size);

/* Data caches of the allowed processors: from /sys, else from cpuid, else the usual sizes. */
void
measure__caches(struct arena *arena, struct measure_facts *facts);

/* Keeps a core busy until its clock rate has risen. */
void
measure__warm_up(const struct measure_clock *clock);

/* ---- the threads that measure together ---- */

struct team;

/* One thread for each processor, bound to it. NULL: they cannot be made. */
struct team *
measure__team_create(const int *cpus, size_t count);
void
measure__team_destroy(struct team *team);
size_t
measure__team_size(const struct team *team);

/* Runs work(context, number) on the first `count` threads at once; the time from the first start to
 * the last end. */
double
measure__team_run(struct team *team, size_t count, const struct measure_clock *clock,
                  void (*work)(void *context, size_t number), void *context);

/* ---- parts of the figures ---- */

struct kernels;

/* What every part is given. */
struct taking {
    const struct measure_facts *facts;
    const struct measure_clock *clock;
    const struct kernels *kernels;
    struct team *team;
    struct measure_figures *figures;
};

void
measure__take_peaks(struct taking *taking);
/* False: no memory. */
bool
measure__take_levels(struct taking *taking);
/* Needs the peaks. */
void
measure__take_functions(struct taking *taking);
void
measure__take_handshake(struct taking *taking);

/* The shortest time of work in slices until `budget_ns` is spent. */
double
measure__best(struct taking *taking, size_t threads, double budget_ns,
              void (*work)(void *context, size_t number), void *context);

#endif
