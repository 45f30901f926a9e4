/* Times of one kernel, a window at a time: for whoever measures something in turns with it that
 * cannot be built as a kernel.
 *
 * A sample of a verdict is short, and its process is new: the first touch of each page is in it.
 * What runs elsewhere for as long as it likes has none of that. So a sample here goes through the
 * sets again and again. What a kernel could save by remembering them does not show in its verdict,
 * whose time the caller has; and some samples are as those of a verdict, and checked. */
#include "judge/judge_int.h"

#include "base/clock.h"

#include <math.h>

enum {
    KNOWN = 4,   /* sets for which it is known what they should give */
    CHECKED = 8, /* one sample of so many is checked; which, nobody can know */
    MOST_ROUNDS = 64,
};

static const double STEADY_NS = 4e6, BRIEF_NS = 1e8;

struct judge_window {
    struct arena *arena;
    const struct judge__object *object;
    struct judge__pool pool;
    size_t calls;
    size_t rounds;
    double expected; /* of one call */
    double null;     /* a call of nothing */
    size_t *slots;
};

static enum status
prepare(struct judge_window *window, struct judge__case *c, uint64_t seed, struct diags *diags)
{
    struct judge__sample sample;
    enum status status = judge__null(c, &window->null, diags);

    if (status == STATUS_OK)
        status = judge__pilot(c, window->arena, window->object, seed, &sample, diags);
    if (status != STATUS_OK)
        return status;
    if (sample.end.ending != BOX_DONE)
        return STATUS_NO;
    window->expected = sample.ns;
    window->calls = judge__calls_for(c, sample.ns);
    status = judge__pool_open(window->arena, c, seed, window->calls, KNOWN, &window->pool, diags);
    if (status != STATUS_OK)
        return status;
    if (window->calls > window->pool.count)
        window->calls = window->pool.count;
    double rounds = ceil(STEADY_NS / (window->expected * (double)window->calls));
    window->rounds = (size_t)fmax(1, fmin(rounds, MOST_ROUNDS));
    if (window->rounds * window->calls > BOX_CALLS_MAX)
        window->rounds = BOX_CALLS_MAX / window->calls;
    window->slots = arena_array(window->arena, window->calls, sizeof *window->slots);
    for (size_t i = 0; i < window->calls; i++)
        window->slots[i] = i;
    return status;
}

/* Through all sets, so often that what the first calls found cold does not count. */
static enum status
take_steady(struct judge_window *window, struct judge__sample *sample, struct diags *diags)
{
    size_t calls = window->calls * window->rounds;
    bool brief = window->expected * (double)calls < BRIEF_NS;
    struct judge__calls run = {.c = window->pool.c,
                               .object = window->object,
                               .slots = window->slots,
                               .count = window->calls,
                               .rounds = window->rounds,
                               .threads = window->pool.c->task->threads,
                               .seconds =
                                   brief ? 1 : judge__limit(window->pool.c, window->object, calls),
                               .realtime = brief,
                               .random = rng_next(&window->pool.random)};
    struct judge__ran ran;
    enum status status = judge__run(&run, &ran, diags);

    *sample = (struct judge__sample){0};
    if (status != STATUS_OK)
        return status;
    sample->end = ran.end;
    sample->disturbed = ran.disturbed;
    sample->ns = fmax(ran.ns / 4, ran.ns - window->null) / (double)calls;
    return STATUS_OK;
}

/* As in a verdict. It is not counted: the first calls are in it. */
static enum status
take_checked(struct judge_window *window, struct arena *arena, struct diags *diags)
{
    struct judge__sample sample;
    enum status status = judge__sample(&window->pool, arena, window->object, window->calls,
                                       window->expected, true, &sample, diags);

    if (status == STATUS_OK && (sample.end.ending != BOX_DONE || sample.wrong))
        status = STATUS_NO;
    return status;
}

enum status
judge_window_open(struct judge_task *task, struct judge_kernel *kernel, size_t number,
                  struct judge_window **window, struct diags *diags)
{
    struct arena *arena = arena_create();
    enum status status;

    *window = NULL;
    if (!arena)
        return judge__no_memory(diags);
    *window = arena_alloc(arena, sizeof **window);
    **window = (struct judge_window){.arena = arena, .object = &kernel->objects[number]};
    status = prepare(*window, &task->cases[number], task->seed, diags);
    if (status != STATUS_OK) {
        judge_window_close(*window);
        *window = NULL;
    }
    return status;
}

void
judge_window_close(struct judge_window *window)
{
    if (!window)
        return;
    judge__pool_close(&window->pool);
    arena_destroy(window->arena);
}

size_t
judge_window_sets(const struct judge_window *window)
{
    return window->pool.count;
}

/* Disturbed samples count only where there are no others. */
enum status
judge_window_take(struct judge_window *window, double seconds, double *us, size_t most,
                  size_t *count, struct diags *diags)
{
    struct arena *arena = arena_create();
    double end = clock_seconds() + seconds, disturbed = 0;
    enum status status = STATUS_OK;

    *count = 0;
    if (!arena)
        return judge__no_memory(diags);
    do {
        struct judge__sample sample = {0};

        if (rng_below(&window->pool.random, CHECKED) == 0)
            status = take_checked(window, arena, diags);
        if (status == STATUS_OK)
            status = take_steady(window, &sample, diags);
        if (status == STATUS_OK && sample.end.ending != BOX_DONE)
            status = STATUS_NO;
        if (status == STATUS_OK && sample.disturbed)
            disturbed = sample.ns / 1e3;
        else if (status == STATUS_OK)
            us[(*count)++] = sample.ns / 1e3;
    } while (status == STATUS_OK && *count < most && clock_seconds() < end);
    if (status == STATUS_OK && *count == 0)
        us[(*count)++] = disturbed;
    arena_destroy(arena);
    return status;
}
