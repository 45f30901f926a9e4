/* What is measured once and kept. Each figure is the best of many short slices: on a shared machine
 * only some of them have the core to themselves, and a limit is what the machine can do, not what
 * it did. */
#include "measure/measure_int.h"

#include "measure/kernels_int.h"

#include <math.h>

#define LEAST_SLICES 5
#define WARM_NS 50e6

double
measure__best(struct taking *taking, size_t threads, double budget_ns,
              void (*work)(void *context, size_t number), void *context)
{
    double best = INFINITY;
    uint64_t from = measure_ticks(taking->clock);
    for (unsigned slices = 0;
         slices < LEAST_SLICES ||
         measure_ns(taking->clock, from, measure_ticks(taking->clock)) < budget_ns;
         slices++)
        best = fmin(best, measure__team_run(taking->team, threads, taking->clock, work, context));
    return fmax(best, 1);
}

static void
burn(void *context, size_t calls)
{
    const struct kernels *kernels = context;
    kernels->peak_f32(1000 * calls);
}

void
measure__warm_up(const struct measure_clock *clock)
{
    struct measure_work work = {burn, (void *)measure__kernels_here()};
    for (double spent = 0; spent < WARM_NS;)
        spent += measure_sample(clock, &work, 10) * 10;
}

/* ---- peaks ---- */

#define PEAK_BUDGET_NS 80e6
#define PEAK_ROUNDS 40000 /* 0.1 ms or so */

static void
run_peak_f32(void *context, size_t number)
{
    const struct taking *taking = context;
    (void)number;
    taking->kernels->peak_f32(PEAK_ROUNDS);
}

static void
run_peak_f64(void *context, size_t number)
{
    const struct taking *taking = context;
    (void)number;
    taking->kernels->peak_f64(PEAK_ROUNDS);
}

void
measure__take_peaks(struct taking *taking)
{
    double lanes = taking->kernels->bits / 32.0;
    double flops = 2.0 * KERNEL_CHAINS * PEAK_ROUNDS * lanes; /* of f32 in one thread */
    const size_t threads[MEASURE_SCOPES] = {1, measure__team_size(taking->team)};
    for (unsigned scope = 0; scope < MEASURE_SCOPES; scope++) {
        double n = (double)threads[scope];
        taking->figures->gflops_f32[scope] =
            n * flops / measure__best(taking, threads[scope], PEAK_BUDGET_NS, run_peak_f32, taking);
        taking->figures->gflops_f64[scope] =
            n * flops / 2 /
            measure__best(taking, threads[scope], PEAK_BUDGET_NS, run_peak_f64, taking);
    }
    /* Disturbed, all may look slower than one. */
    double *f32 = taking->figures->gflops_f32, *f64 = taking->figures->gflops_f64;
    f32[MEASURE_ALL] = fmax(f32[MEASURE_ALL], f32[MEASURE_ONE]);
    f64[MEASURE_ALL] = fmax(f64[MEASURE_ALL], f64[MEASURE_ONE]);
}

/* ---- all of it ---- */

static void
say(struct log *log, const char *what)
{
    const char *lines[1] = {what};
    log_progress(log, lines, 1, what, false);
}

static enum status
take_all(struct taking *taking, struct log *log)
{
    say(log, "machine: measuring peaks ...");
    measure__warm_up(taking->clock);
    taking->figures->timer_ns = measure_clock_overhead(taking->clock);
    measure__take_peaks(taking);
    measure__take_handshake(taking);
    say(log, "machine: measuring memory ...");
    if (!measure__take_levels(taking))
        return STATUS_MACHINE;
    say(log, "machine: measuring functions ...");
    measure__take_functions(taking);
    return STATUS_OK;
}

enum status
measure_figures_take(struct arena *arena, const struct measure_facts *facts,
                     const struct measure_clock *clock, struct log *log,
                     struct measure_figures *figures, struct diags *diags)
{
    int *cpus;
    size_t count = measure_cpus(arena, &cpus);
    uint64_t from = measure_ticks(clock);
    struct taking taking = {facts, clock, measure__kernels_here(),
                            measure__team_create(cpus, count), figures};
    *figures = (struct measure_figures){0};
    enum status status = taking.team ? take_all(&taking, log) : STATUS_MACHINE;
    measure__team_destroy(taking.team);
    log_progress_done(log);
    if (status != STATUS_OK)
        diags_add(diags, DIAG_ERROR, (struct place){0},
                  "the machine cannot be measured: no memory or no threads to be had");
    figures->seconds = measure_ns(clock, from, measure_ticks(clock)) * 1e-9;
    figures->time = (double)time(NULL);
    return status;
}
