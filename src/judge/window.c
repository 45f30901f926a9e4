/* Times of one kernel, a window at a time: for whoever measures something in turns with it that
 * cannot be built as a kernel. */
#include "judge/judge_int.h"

#include "base/clock.h"

enum {
    KNOWN = 4,   /* sets for which it is known what they should give */
    CHECKED = 8, /* one sample of so many is checked; which, nobody can know */
};

struct judge_window {
    struct arena *arena;
    const struct judge__object *object;
    struct judge__pool pool;
    size_t calls;
    double expected; /* of one call */
};

static enum status
prepare(struct judge_window *window, struct judge__case *c, uint64_t seed, struct diags *diags)
{
    struct judge__sample sample;
    double null;
    enum status status = judge__null(c, &null, diags);

    if (status == STATUS_OK)
        status = judge__pilot(c, window->arena, window->object, seed, &sample, diags);
    if (status != STATUS_OK)
        return status;
    if (sample.end.ending != BOX_DONE)
        return STATUS_NO;
    window->expected = sample.ns;
    window->calls = judge__calls_for(c, sample.ns);
    status = judge__pool_open(window->arena, c, seed, window->calls, KNOWN, &window->pool, diags);
    if (status == STATUS_OK && window->calls > window->pool.count)
        window->calls = window->pool.count;
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
        bool check = rng_below(&window->pool.random, CHECKED) == 0;

        status = judge__sample(&window->pool, arena, window->object, window->calls,
                               window->expected, check, &sample, diags);
        if (status == STATUS_OK && (sample.end.ending != BOX_DONE || sample.wrong))
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
