/* A first look: is it right on one set of inputs, and how fast is it, roughly. Enough to sort the
 * candidates of a search; who is to be believed is checked and compared afterwards. */
#include "judge/judge_int.h"

#include "base/clock.h"

#include <assert.h>
#include <math.h>

static const double GLANCE_SECONDS = 0.05; /* for the samples of one case */
enum { MOST_SAMPLES = 15 };

struct glance {
    struct judge__case *c;
    struct arena *arena;
    struct judge__object *object;
    struct judge_case *seen;
    struct judge_report *report;
};

/* One call on inputs whose results are known. */
static enum status
try_once(struct glance *s, struct diags *diags)
{
    struct judge__pool pool;
    struct judge__sample sample = {0};
    enum status status = judge__pool_open(s->arena, s->c, s->report->seed, 1, 1, &pool, diags);

    if (status == STATUS_OK)
        status = judge__sample(&pool, s->arena, s->object, 1, 0, true, &sample, diags);
    if (status == STATUS_OK && judge__accept(s->arena, &sample, s->seen, s->report))
        s->object->ns = sample.ns;
    judge__pool_close(&pool);
    return status;
}

static enum status
take_samples(struct glance *s, struct diags *diags)
{
    struct judge__pool pool;
    double times[MOST_SAMPLES];
    size_t calls = judge__calls_for(s->c, s->object->ns), count = 0;
    enum status status = judge__pool_open(s->arena, s->c, s->report->seed, calls, 0, &pool, diags);

    double end = clock_seconds() + GLANCE_SECONDS;
    calls = calls < pool.count ? calls : pool.count;
    while (status == STATUS_OK && count < MOST_SAMPLES && (count == 0 || clock_seconds() < end)) {
        struct judge__sample sample;

        status =
            judge__sample(&pool, s->arena, s->object, calls, s->object->ns, false, &sample, diags);
        if (status == STATUS_OK && !judge__accept(s->arena, &sample, s->seen, s->report))
            break;
        times[count++] = sample.ns;
    }
    judge__pool_close(&pool);
    if (status == STATUS_OK && s->report->status == JUDGE_BUILT) {
        struct measure_summary summary = measure_summarise(times, count);

        s->seen->timed = true;
        s->seen->time = (struct judge_time){.median = summary.median / 1e3,
                                            .min = summary.min / 1e3,
                                            .low = summary.low / 1e3,
                                            .high = summary.high / 1e3,
                                            .samples = count,
                                            .calls = calls};
        s->seen->share = s->c->light.us / s->seen->time.median;
    }
    return status;
}

enum status
judge_glance(struct judge_task *task, struct arena *arena, struct judge_kernel *kernel,
             struct judge_report *report, struct diags *diags)
{
    enum status status = STATUS_OK;

    assert(kernel && report->status == JUDGE_BUILT);
    for (size_t i = 0; i < task->case_count && status == STATUS_OK && report->status == JUDGE_BUILT;
         i++) {
        struct glance s = {.c = &task->cases[i],
                           .arena = arena,
                           .object = &kernel->objects[i],
                           .seen = &report->cases[i],
                           .report = report};
        double null;

        status = judge__null(s.c, &null, diags);
        if (status == STATUS_OK)
            status = try_once(&s, diags);
        if (status == STATUS_OK && report->status == JUDGE_BUILT && !s.c->program->check_only)
            status = take_samples(&s, diags);
    }
    return status;
}
