/* Rounds: every contestant in turn, again and again, so that no drift of the machine favours one.
 *
 * 1. A round visits all contestants, every other round in reverse: none always follows the same.
 * 2. Before what is timed each makes one call that is not: its threads are then awake and its
 *    caches filled, as they were when it last ran alone. Between contestants there is a pause in
 *    which the threads of a library that has its own go to sleep; else they would spin on the
 *    cores of the next one.
 * 3. The ratio is one of medians. Its interval is by resampling: rounds are drawn again with
 *    replacement, all contestants of a round together, and the ratio is computed anew. */
#include "compare.h"

#include "base/rng.h"
#include "measure/measure.h"

#include <time.h>

#define BATCH_SECONDS 0.005
#define PAUSE_SECONDS 0.002
#define WARM_SECONDS 0.02 /* who takes longer needs no warm-up: it is a small part of the call */
#define MOST_ROUNDS 400
#define RESAMPLES 400

static void
pause_for(double seconds)
{
    struct timespec time = {.tv_nsec = (long)(seconds * 1e9)};

    nanosleep(&time, NULL);
}

/* Seconds a call. */
static double
batch(const struct measure_clock *clock, const struct library_call *one, size_t calls, bool warm)
{
    pause_for(PAUSE_SECONDS);
    if (warm)
        one->run(one->state);
    uint64_t start = measure_ticks(clock);
    for (size_t i = 0; i < calls; i++)
        one->run(one->state);
    return 1e-9 * measure_ns(clock, start, measure_ticks(clock)) / (double)calls;
}

/* Calls that fill a batch; their time is that of the second call, the first is cold. */
static size_t
calls_for(const struct measure_clock *clock, const struct library_call *one, double *seconds)
{
    *seconds = batch(clock, one, 1, true);
    if (*seconds < BATCH_SECONDS)
        *seconds = batch(clock, one, (size_t)(0.2 * BATCH_SECONDS / (*seconds + 1e-8)) + 1, true);
    return *seconds < BATCH_SECONDS ? (size_t)(BATCH_SECONDS / (*seconds + 1e-9)) + 1 : 1;
}

static double
median(double *values, size_t count)
{
    return measure_summarise(values, count).median;
}

/* Times of rounds picked[0 .. rounds), or of all in order; scratch is overwritten. */
static double
ratio_of(const double *first, const double *times, const size_t *picked, size_t rounds,
         double *scratch)
{
    double mine, theirs;

    for (size_t r = 0; r < rounds; r++)
        scratch[r] = times[picked[r]];
    mine = median(scratch, rounds);
    for (size_t r = 0; r < rounds; r++)
        scratch[r] = first[picked[r]];
    theirs = median(scratch, rounds);
    return mine / theirs;
}

static void
stand(struct arena *arena, const double *first, const double *times, size_t rounds,
      struct standing *standing)
{
    double *scratch = arena_array(arena, rounds, sizeof *scratch), ratios[RESAMPLES];
    size_t *picked = arena_array(arena, rounds, sizeof *picked);
    struct rng rng = rng_stream(1, "resample");

    for (size_t r = 0; r < rounds; r++) {
        picked[r] = r;
        scratch[r] = times[r];
    }
    standing->us = 1e6 * median(scratch, rounds);
    standing->ratio = ratio_of(first, times, picked, rounds, scratch);
    for (size_t i = 0; i < RESAMPLES; i++) {
        for (size_t r = 0; r < rounds; r++)
            picked[r] = (size_t)rng_below(&rng, rounds);
        ratios[i] = ratio_of(first, times, picked, rounds, scratch);
    }
    measure_summarise(ratios, RESAMPLES); /* sorts */
    standing->low = ratios[RESAMPLES / 40];
    standing->high = ratios[RESAMPLES - 1 - RESAMPLES / 40];
    standing->rounds = rounds;
}

void
compare_rounds(struct arena *arena, const struct contestants *all, size_t rounds, double seconds,
               struct standing *standings)
{
    struct measure_clock clock = measure_clock_open();
    double *times[COMPARE_MOST], spent[COMPARE_MOST] = {0}, call[COMPARE_MOST], least = 0;
    size_t done = 0;

    for (size_t c = 0; c < all->count; c++) {
        times[c] = arena_array(arena, MOST_ROUNDS, sizeof *times[c]);
        standings[c].calls = calls_for(&clock, &all->list[c], &call[c]);
    }
    while (done < MOST_ROUNDS && (done < rounds || least < seconds)) {
        for (size_t i = 0; i < all->count; i++) {
            size_t c = done % 2 ? all->count - 1 - i : i;
            times[c][done] =
                batch(&clock, &all->list[c], standings[c].calls, call[c] < WARM_SECONDS);
            spent[c] += times[c][done] * (double)standings[c].calls;
        }
        done++;
        least = spent[0];
        for (size_t c = 1; c < all->count; c++)
            least = spent[c] < least ? spent[c] : least;
    }
    for (size_t c = 0; c < all->count; c++)
        stand(arena, times[0], times[c], done, &standings[c]);
}
