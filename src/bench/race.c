/* Our kernel against the builds of other libraries, which cannot run in the judge's box: windows of
 * each are taken in turns, so that a drift of the machine touches all of them alike, and the ratio
 * of two is taken within a turn. */
#include "bench/bench.h"

#include "base/clock.h"
#include "measure/measure.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CALLS = 4096 }; /* of a window */
enum { FIRST_ROUNDS = 3 };  /* in which all take part */
enum { FEWEST_ROUNDS = 6 }; /* whose extremes are a 95 % interval of the middle; a long race ends */
static const double FAR_BEHIND = 1.3;

struct lane { /* a build, or our kernel */
    const struct bench_racer *racer;
    const struct bench_rival *rival; /* NULL: our kernel */
    size_t build;
    bool out;        /* it did not work, */
    const char *why; /* and so it says */
    bool behind;     /* it will not be the best of its rival's: the others go on */
    unsigned rounds; /* that it took part in */
    double *times;   /* the middle of each window */
};

struct track {
    struct arena *arena;
    const struct bench_race *race;
    struct lane *lanes; /* ours first */
    size_t count;
    double *calls; /* of one window */
    struct diags *diags;
};

/* ---- running ---- */

static struct diags *
diags_of(const struct track *track, const struct lane *lane)
{
    return lane->rival ? lane->rival->diags : track->diags;
}

/* The reason is what was said since there were `before` messages. */
static void
drop(const struct track *track, struct lane *lane, size_t before)
{
    const struct diags *diags = diags_of(track, lane);

    lane->out = true;
    lane->why = diags_count(diags) > before ? diags_get(diags, before)->message : "it gave no time";
}

/* The middle of a window's calls; NAN: the build is out. */
static double
take_window(struct track *track, struct lane *lane)
{
    const struct bench_racer *racer = lane->racer;
    struct diags *diags = diags_of(track, lane);
    size_t before = diags_count(diags);

    usleep((useconds_t)(1e6 * track->race->pause));
    size_t count = racer->window(racer->context, lane->build, track->race->seconds, track->calls,
                                 MOST_CALLS, diags);

    if (count == 0)
        drop(track, lane, before);
    return count > 0 ? measure_summarise(track->calls, count).median : NAN;
}

/* Whoever began the last round does not begin this one. */
static void
run_round(struct track *track, unsigned round)
{
    for (size_t i = 0; i < track->count && !track->lanes[0].out; i++) {
        struct lane *lane = &track->lanes[(i + round) % track->count];

        if (!lane->out && !lane->behind)
            lane->times[lane->rounds++] = take_window(track, lane);
    }
}

static double
slowest(const struct lane *lane)
{
    double most = 0;

    for (unsigned i = 0; i < lane->rounds; i++)
        most = fmax(most, lane->times[i]);
    return most;
}

static double
fastest(const struct lane *lane)
{
    double least = INFINITY;

    for (unsigned i = 0; i < lane->rounds; i++)
        least = fmin(least, lane->times[i]);
    return least;
}

/* A build whose best window is far behind the worst of another build of the same rival is no more
 * asked: only the best may be claimed against. */
static void
leave_behind(struct track *track)
{
    for (size_t i = 1; i < track->count; i++)
        for (size_t k = 1; k < track->count; k++) {
            struct lane *lane = &track->lanes[i];
            const struct lane *other = &track->lanes[k];

            if (!other->out && other->rival == lane->rival && other->build < lane->rival->claimed &&
                fastest(lane) > FAR_BEHIND * slowest(other))
                lane->behind = true;
        }
}

static void
prepare(const struct track *track, struct lane *lane)
{
    struct diags *diags = diags_of(track, lane);
    size_t before = diags_count(diags);

    if (!lane->racer->prepare(lane->racer->context, lane->build, diags))
        drop(track, lane, before);
}

/* Whether anybody is left to run against. */
static bool
is_on(const struct track *track)
{
    for (size_t i = 1; i < track->count; i++)
        if (!track->lanes[i].out)
            return true;
    return false;
}

static void
line_up(struct track *track, const struct bench_racer *ours, const struct bench_rival *rivals,
        size_t count)
{
    size_t most = 1;

    for (size_t i = 0; i < count; i++)
        most += rivals[i].racer.count;
    track->lanes = arena_array(track->arena, most, sizeof *track->lanes);
    track->calls = arena_array(track->arena, MOST_CALLS, sizeof *track->calls);
    track->lanes[track->count++].racer = ours;
    for (size_t i = 0; i < count; i++) {
        const struct bench_racer *racer = &rivals[i].racer;

        for (size_t k = 0; k < racer->count; k++) {
            struct lane *lane = &track->lanes[track->count++];

            *lane = (struct lane){.racer = racer, .rival = &rivals[i], .build = k};
            prepare(track, lane);
        }
    }
    for (size_t i = 0; i < track->count; i++)
        track->lanes[i].times =
            arena_array(track->arena, track->race->rounds, sizeof *track->lanes[i].times);
}

/* ---- what came of it ---- */

static struct store_baseline
row_of(const struct track *track, const struct lane *lane, const char *name)
{
    unsigned rounds = lane->rounds;
    double *times = arena_array(track->arena, rounds, sizeof *times);
    double *ratios = arena_array(track->arena, rounds, sizeof *ratios);

    for (unsigned r = 0; r < rounds; r++) {
        times[r] = lane->times[r];
        ratios[r] = log(lane->times[r] / track->lanes[0].times[r]);
    }
    struct measure_summary time = measure_summarise(times, rounds);
    struct measure_summary ratio = measure_summarise(ratios, rounds);
    return (struct store_baseline){.name = name,
                                   .build = lane->racer->builds[lane->build],
                                   .time_us = time.median,
                                   .low_us = time.low,
                                   .high_us = time.high,
                                   .speedup = exp(ratio.median),
                                   .speedup_low = exp(ratio.low),
                                   .speedup_high = exp(ratio.high)};
}

/* Of one that is out: no figures, and for its build the reason. */
static struct store_baseline
row_of_absent(const struct lane *lane, const char *name)
{
    return (struct store_baseline){.name = name,
                                   .build = lane->why,
                                   .time_us = NAN,
                                   .low_us = NAN,
                                   .high_us = NAN,
                                   .speedup = NAN,
                                   .speedup_low = NAN,
                                   .speedup_high = NAN};
}

/* The best of those that may be claimed against stands first, once more, under the bare name. */
static void
conclude_rival(const struct track *track, const struct bench_rival *rival,
               struct store_baseline *rows, size_t *count)
{
    const struct store_baseline *best = NULL;
    size_t first = *count, next = first + 1;

    for (size_t i = 1; i < track->count; i++) {
        const struct lane *lane = &track->lanes[i];

        if (lane->rival != rival)
            continue;
        const char *build = lane->racer->builds[lane->build];
        const char *name = arena_printf(track->arena, "%s.%s", rival->name, build);
        struct store_baseline *row = &rows[next++];
        *row = lane->out ? row_of_absent(lane, name) : row_of(track, lane, name);
        if (lane->build < rival->claimed && !lane->out && (!best || row->time_us < best->time_us))
            best = row;
    }
    if (!best) {
        memmove(&rows[first], &rows[first + 1], (next - first - 1) * sizeof *rows);
        *count = next - 1;
        return;
    }
    rows[first] = *best;
    rows[first].name = rival->name;
    *count = next;
}

static void
conclude(const struct track *track, const struct bench_rival *rivals, size_t rival_count,
         struct store_baseline **rows, size_t *count)
{
    *rows = arena_array(track->arena, track->count + rival_count + 1, sizeof **rows);
    for (size_t i = 0; i < rival_count; i++)
        conclude_rival(track, &rivals[i], *rows, count);
    if (is_on(track))
        (*rows)[(*count)++] = row_of(track, &track->lanes[0], BENCH_OURS);
}

enum status
bench_run_race(struct arena *arena, const struct bench_race *race, const struct bench_racer *ours,
               const struct bench_rival *rivals, size_t rival_count, struct store_baseline **rows,
               size_t *count, struct diags *diags)
{
    struct track track = {.arena = arena, .race = race, .diags = diags};

    *rows = NULL;
    *count = 0;
    if (!ours->prepare(ours->context, 0, diags))
        return STATUS_MACHINE;
    line_up(&track, ours, rivals, rival_count);
    double start = clock_seconds();
    for (unsigned round = 0; round < race->rounds && is_on(&track); round++) {
        if (race->most_seconds > 0 && round >= FEWEST_ROUNDS &&
            clock_seconds() - start > race->most_seconds)
            break;
        run_round(&track, round);
        if (round + 1 == FIRST_ROUNDS)
            leave_behind(&track);
    }
    if (track.lanes[0].out)
        return STATUS_MACHINE;
    if (track.count > 1)
        conclude(&track, rivals, rival_count, rows, count);
    return STATUS_OK;
}
