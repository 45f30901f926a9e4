/* How fast it is: samples of the kernel and of its baselines, interleaved in random order on the
 * same memory, until the intervals are narrow enough or the time is up. */
#include "judge/judge_int.h"

#include "base/clock.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

struct effort {
    size_t least, most; /* rounds */
    double narrow;      /* half the width of the interval of the time, as a share, that is enough */
    double seconds;     /* for one case */
    double reference;   /* seconds that may be spent on expected values of timed calls */
};

static const struct effort efforts[JUDGE_EFFORT_COUNT] = {
    [JUDGE_QUICK] = {.least = 6, .most = 6, .narrow = 1, .seconds = 1, .reference = 5e-3},
    [JUDGE_NORMAL] = {.least = 15, .most = 400, .narrow = 0.01, .seconds = 1, .reference = 0.1},
};

static const double DISTURBED_MOST = 0.3; /* of the rounds */

struct runner { /* the kernel, then the baselines */
    const char *name, *flags;
    struct judge__object *object;
    double ns;    /* of one call, roughly */
    size_t calls; /* in a sample */
    double *times;
};

struct race {
    struct judge__case *c;
    struct arena *arena;
    const struct effort *effort;
    struct judge__pool pool;
    struct runner *runners;
    size_t count, rounds, disturbed;
    bool *bad; /* by round */
    struct judge_case *seen;
    struct judge_report *report;
};

/* ---- what a sample of the kernel may show ---- */

/* True if the race can go on. The kernel was right when it was checked, and is told so. */
static bool
accept(struct race *race, const struct judge__sample *sample)
{
    struct judge_report *report = race->report;

    if (judge__accept(race->arena, sample, race->seen, report))
        return true;
    if (report->status != JUDGE_WRONG)
        return false;
    report->status = sample->lazy ? JUDGE_CHEATED : JUDGE_WRONG;
    report->reason = arena_printf(
        race->arena,
        sample->lazy ? "right when it was checked; when it was timed, call %zu of a process left "
                       "its output unwritten or repeated an earlier one"
                     : "right when it was checked; when it was timed, call %zu of a process was "
                       "wrong",
        sample->wrong_call);
    return false;
}

/* ---- before the race ---- */

/* What the check has shown, or a sample or two of one call. */
static enum status
estimate(struct race *race, struct diags *diags)
{
    for (size_t i = 0; i < race->count; i++) {
        struct runner *runner = &race->runners[i];
        struct judge__sample sample = {.ns = runner->object->ns};
        enum status status = STATUS_OK;

        if (runner->object->ns <= 0)
            status = judge__pilot(race->c, race->arena, runner->object, race->report->seed, &sample,
                                  diags);
        if (status != STATUS_OK)
            return status;
        if (i == 0 && !accept(race, &sample))
            return STATUS_OK;
        runner->ns = sample.end.ending == BOX_DONE ? sample.ns : INFINITY;
        runner->object->ns = sample.ns;
    }
    return STATUS_OK;
}

static enum status
prepare(struct race *race, struct diags *diags)
{
    struct judge__case *c = race->c;
    size_t calls = judge__calls_for(c, race->runners[0].ns), known;
    enum status status;

    known = (size_t)fmax(2, race->effort->reference / c->reference_seconds);
    status = judge__pool_open(race->arena, c, race->report->seed, calls, known, &race->pool, diags);
    if (status != STATUS_OK)
        return status;
    race->bad = arena_array(race->arena, race->effort->most, sizeof *race->bad);
    for (size_t i = 0; i < race->count; i++) {
        size_t wanted = judge__calls_for(c, race->runners[i].ns);

        race->runners[i].calls = wanted < race->pool.count ? wanted : race->pool.count;
        race->runners[i].times =
            arena_array(race->arena, race->effort->most, sizeof *race->runners[i].times);
    }
    return STATUS_OK;
}

/* ---- the rounds ---- */

/* A baseline that is slow and far behind is known well enough after two rounds, a very slow one
 * from the call that estimated it. */
static bool
is_far_behind(const struct race *race, size_t runner)
{
    const struct runner *r = &race->runners[runner];

    return runner > 0 && race->rounds >= (r->ns > 1e9 ? 0 : 2) && r->ns > 1e8 &&
           r->ns > 8 * race->runners[0].ns;
}

static enum status
run_round(struct race *race, struct diags *diags)
{
    size_t start = (size_t)rng_below(&race->pool.random, race->count);
    bool bad = false;

    for (size_t k = 0; k < race->count; k++) {
        size_t i = (start + k) % race->count;
        struct runner *runner = &race->runners[i];
        struct judge__sample sample;

        if (is_far_behind(race, i)) {
            runner->times[race->rounds] = race->rounds == 0 ? runner->ns : NAN;
            continue;
        }
        enum status status = judge__sample(&race->pool, race->arena, runner->object, runner->calls,
                                           runner->ns, i == 0, &sample, diags);

        if (status != STATUS_OK)
            return status;
        if (i == 0 && !accept(race, &sample))
            return STATUS_OK;
        bad = bad || sample.disturbed;
        runner->times[race->rounds] = sample.end.ending == BOX_DONE ? sample.ns : NAN;
    }
    race->bad[race->rounds++] = bad;
    race->disturbed += bad;
    return STATUS_OK;
}

/* Undisturbed rounds only, unless too few would remain. Values by round, or ratios to the kernel.
 */
static struct measure_summary
summarise(const struct race *race, size_t runner, bool ratio)
{
    double *values = arena_array(race->arena, race->rounds, sizeof *values);
    bool all = (double)race->disturbed > DISTURBED_MOST * (double)race->rounds;
    size_t count = 0;

    for (int pass = 0; pass < 2 && count == 0; pass++, all = true)
        for (size_t r = 0; r < race->rounds; r++) {
            double time = race->runners[runner].times[r];

            if (isnan(time) || (race->bad[r] && !all))
                continue;
            values[count++] = ratio ? log(time / race->runners[0].times[r]) : time;
        }
    if (count == 0)
        return (struct measure_summary){.median = NAN, .low = NAN, .high = NAN};
    return measure_summarise(values, count);
}

static bool
is_narrow(const struct race *race)
{
    struct measure_summary time = summarise(race, 0, false);

    if (time.high - time.low > 2 * race->effort->narrow * time.median)
        return false;
    for (size_t i = 1; i < race->count; i++) {
        struct measure_summary ratio = summarise(race, i, true);

        if (!is_far_behind(race, i) && ratio.high - ratio.low > 2 * race->effort->narrow)
            return false;
    }
    return true;
}

/* Rounds that are made whatever they take: few where a call takes so long that noise is small. */
static size_t
fewest_rounds(const struct race *race)
{
    return race->runners[0].ns > 5e8 ? 2 : 5;
}

static enum status
run_race(struct race *race, struct diags *diags)
{
    double end = clock_seconds() + race->effort->seconds;
    enum status status = STATUS_OK;

    while (status == STATUS_OK && race->report->status == JUDGE_BUILT &&
           race->rounds < race->effort->most) {
        if (race->rounds >= fewest_rounds(race) && clock_seconds() > end)
            break;
        if (race->rounds >= race->effort->least && race->rounds % 5 == 0 && is_narrow(race))
            break;
        status = run_round(race, diags);
    }
    return status;
}

/* ---- after the race ---- */

static struct judge_time
time_of(const struct race *race, size_t runner)
{
    struct measure_summary s = summarise(race, runner, false);

    return (struct judge_time){.median = s.median / 1e3,
                               .min = s.min / 1e3,
                               .low = s.low / 1e3,
                               .high = s.high / 1e3,
                               .samples = race->rounds,
                               .calls = race->runners[runner].calls};
}

static void
conclude(struct race *race)
{
    struct judge_case *seen = race->seen;
    struct judge_pair *pairs = arena_array(race->arena, race->count, sizeof *pairs);

    seen->timed = true;
    seen->time = time_of(race, 0);
    seen->share = race->c->light.us / seen->time.median;
    for (size_t i = 1; i < race->count; i++) {
        struct measure_summary ratio = summarise(race, i, true);

        pairs[i - 1] = (struct judge_pair){
            .name = race->runners[i].name,
            .flags = race->runners[i].flags,
            .time = time_of(race, i),
            .speedup = exp(ratio.median),
            .low = exp(ratio.low),
            .high = exp(ratio.high),
            .same = ratio.low <= 0.0025 && ratio.high >= -0.0025,
        };
    }
    seen->pairs = pairs;
    seen->pair_count = race->count - 1;
    if ((double)race->disturbed > DISTURBED_MOST * (double)race->rounds)
        judge__note(race->arena, race->report,
                    "the machine is busy: %zu of %zu rounds of case %s were disturbed",
                    race->disturbed, race->rounds, race->c->program->case_name);
}

/* What storing the outputs alone takes, at the rate of the nearest cache; from the processor's own
 * words, and then generously, where it was not measured. */
static double
store_us(const struct judge__case *c)
{
    const struct judge *judge = c->task->judge;
    double gbs = judge->kept.whole ? judge->kept.figures.level[0].store_gbs
                                   : 10.0 * judge->facts.vector_bits / 8 * judge->facts.threads;

    return c->cost.bytes_out / gbs / 1e3;
}

/* The least time on inputs that no process has seen, one sample each: what was looked up and not
 * computed is slower then. There is no way known to carry answers from process to process; this is
 * the second lock on that door. */
static enum status
time_again(struct race *race, const struct judge__object *object, double *us, struct diags *diags)
{
    enum { AGAIN = 5 };
    double times[AGAIN];
    size_t calls = race->runners[0].calls;
    enum status status = STATUS_OK;

    for (size_t i = 0; i < AGAIN && status == STATUS_OK; i++) {
        struct judge__pool pool;
        struct judge__sample sample = {0};

        status = judge__pool_open(race->arena, race->c, judge__secret(), calls, 0, &pool, diags);
        if (status == STATUS_OK)
            status =
                judge__sample(&pool, race->arena, object, calls < pool.count ? calls : pool.count,
                              race->runners[0].ns, false, &sample, diags);
        judge__pool_close(&pool);
        times[i] = sample.ns / 1e3;
    }
    if (status == STATUS_OK)
        *us = measure_summarise(times, AGAIN).min;
    return status;
}

/* Faster than storing is no computation; less than the speed of light is less work than the program
 * describes, which is honest where the program describes too much, and looked at twice. */
static enum status
check_speed(struct race *race, struct judge__object *object, struct diags *diags)
{
    struct judge__case *c = race->c;
    struct judge_case *seen = race->seen;
    struct judge_report *report = race->report;
    double least = 0.8 * store_us(c), null = 0;
    enum status status = judge__null(c, &null, diags);

    if (status != STATUS_OK)
        return status;
    /* by the time with the handshake in it, which no honest kernel can be below */
    null /= 1e3 * (double)seen->time.calls;
    if (seen->time.median + null < least) {
        report->status = JUDGE_CHEATED;
        report->case_name = c->program->case_name;
        report->reason = arena_printf(
            race->arena, "%.3g us, but storing the %.3g MB of its outputs alone takes %.3g us",
            seen->time.median, c->cost.bytes_out / 1e6, least / 0.8);
        return STATUS_OK;
    }
    if (seen->share <= 1)
        return STATUS_OK;
    judge__note(race->arena, report,
                "case %s: less work than the program describes (%.0f %% of the speed of light); "
                "checked twice",
                c->program->case_name, 100 * seen->share);
    double again = 0;
    status = judge__check_case(c, race->arena, object, THOROUGH, 1, seen, report, diags);
    if (status == STATUS_OK && report->status == JUDGE_BUILT && c->freshness == FRESH)
        status = time_again(race, object, &again, diags);
    if (status == STATUS_OK && again > 2 * (seen->time.median + null)) {
        report->status = JUDGE_CHEATED;
        report->case_name = c->program->case_name;
        report->reason =
            arena_printf(race->arena, "%.3g us, but %.3g us on inputs that no process has seen",
                         seen->time.median, again);
    }
    return status;
}

static enum status
measure_case(struct judge__case *c, size_t number, struct arena *arena, struct judge_kernel *kernel,
             struct judge_kernel *const *baselines, size_t count, struct judge_report *report,
             struct diags *diags)
{
    struct race race = {.c = c,
                        .arena = arena,
                        .effort = &efforts[c->task->effort],
                        .seen = &report->cases[number],
                        .report = report};
    double null;
    enum status status = judge__null(c, &null, diags);

    if (status == STATUS_OK && !c->task->no_baseline)
        status = judge__naive(c, diags);
    if (status != STATUS_OK)
        return status;
    if (!c->naive && !c->task->no_baseline && !c->program->foreign)
        judge__note(arena, report,
                    "case %s has no naive: the plain C fails, or takes more than %d s",
                    c->program->case_name, JUDGE__NAIVE_SECONDS);
    judge__progress(c->task->judge, "%s  timing case %s", kernel->file, c->program->case_name);
    race.runners = arena_array(arena, count + 2, sizeof *race.runners);
    race.runners[race.count++] = (struct runner){.object = &kernel->objects[number]};
    if (c->naive && !c->task->no_baseline)
        race.runners[race.count++] =
            (struct runner){.name = "naive", .flags = c->naive->flags, .object = c->naive->objects};
    for (size_t b = 0; b < count; b++)
        race.runners[race.count++] = (struct runner){.name = baselines[b]->file,
                                                     .flags = baselines[b]->flags,
                                                     .object = &baselines[b]->objects[number]};
    status = estimate(&race, diags);
    if (status == STATUS_OK && report->status == JUDGE_BUILT)
        status = prepare(&race, diags);
    if (status == STATUS_OK && report->status == JUDGE_BUILT)
        status = run_race(&race, diags);
    if (status == STATUS_OK && report->status == JUDGE_BUILT) {
        conclude(&race);
        status = check_speed(&race, &kernel->objects[number], diags);
    }
    judge__pool_close(&race.pool);
    return status;
}

enum status
judge_measure(struct judge_task *task, struct arena *arena, struct judge_kernel *kernel,
              struct judge_kernel *const *baselines, size_t baseline_count,
              struct judge_report *report, struct diags *diags)
{
    assert(kernel && report->status == JUDGE_BUILT);
    for (size_t i = 0; i < task->case_count; i++) {
        enum status status = STATUS_OK;

        if (!task->cases[i].program->check_only)
            status = measure_case(&task->cases[i], i, arena, kernel, baselines, baseline_count,
                                  report, diags);
        if (status != STATUS_OK || report->status != JUDGE_BUILT)
            return status;
    }
    report->status = JUDGE_CORRECT;
    for (size_t i = 0; i < task->case_count; i++)
        if (report->cases[i].unjudged == report->cases[i].elements) {
            report->status = JUDGE_BUILT;
            report->case_name = report->cases[i].program->case_name;
            report->reason = "nothing was judged: no element of its outputs is decided by the "
                             "arithmetic";
        }
    return STATUS_OK;
}
