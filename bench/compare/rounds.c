/* Rounds: every contestant in turn, again and again, so that no drift of the machine favours one.
 *
 * 1. A round visits all contestants, every other round in reverse: none always follows the same.
 * 2. Before what is timed each makes one call that is not: its threads are then awake and its
 *    caches filled, as they were when it last ran alone. Between contestants there is a pause in
 *    which the threads of a library that has its own go to sleep; else they would spin on the
 *    cores of the next one.
 * 3. The ratio is one of medians; its interval is that of the median of the rounds' own ratios. */
#include "compare.h"

#include "base/clock.h"
#include "measure/measure.h"

#include <time.h>

#define BATCH_SECONDS 0.005
#define PAUSE_SECONDS 0.002
#define WARM_SECONDS 0.02 /* who takes longer needs no warm-up: it is a small part of the call */
#define MOST_ROUNDS 400

static void
pause_for(double seconds)
{
    struct timespec time = {.tv_nsec = (long)(seconds * 1e9)};

    nanosleep(&time, NULL);
}

/* Seconds a call. */
static double
batch(const struct measure_clock *clock, const struct contestant *one, size_t calls, bool warm)
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
calls_for(const struct measure_clock *clock, const struct contestant *one, double *seconds)
{
    *seconds = batch(clock, one, 1, true);
    if (*seconds < BATCH_SECONDS)
        *seconds = batch(clock, one, (size_t)(0.2 * BATCH_SECONDS / (*seconds + 1e-8)) + 1, true);
    return *seconds < BATCH_SECONDS ? (size_t)(BATCH_SECONDS / (*seconds + 1e-9)) + 1 : 1;
}

static void
stand(struct arena *arena, const double *first, const double *times, size_t rounds,
      struct standing *standing)
{
    double *own = arena_array(arena, rounds, sizeof *own);
    double *ratios = arena_array(arena, rounds, sizeof *ratios);
    double *others = arena_array(arena, rounds, sizeof *others);

    for (size_t r = 0; r < rounds; r++) {
        own[r] = times[r];
        others[r] = first[r];
        ratios[r] = times[r] / first[r];
    }
    struct measure_summary mine = measure_summarise(own, rounds);
    struct measure_summary theirs = measure_summarise(others, rounds);
    struct measure_summary pairs = measure_summarise(ratios, rounds);
    standing->us = 1e6 * mine.median;
    standing->ratio = mine.median / theirs.median;
    standing->low = pairs.low;
    standing->high = pairs.high;
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
