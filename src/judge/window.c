/* Times of one kernel, a window at a time: for whoever measures something in turns with it that
 * cannot be built as a kernel.
 *
 * A sample of a verdict is short, and its process is new: the first touch of each page is in it.
 * What runs elsewhere for as long as it likes has none of that. So a sample here goes through its
 * slots in many rounds. A kernel must not gain by remembering:
 *
 *  1. No call of a process has the inputs of another. They begin at another place in each round, up
 *     to a page later, where there is room behind them that is filled like them. So they are new,
 *     and all of them but a few lines as warm as they were.
 *  2. Some samples are checked. They are as the others, but are stopped behind some round, and what
 *     was to be right by then is compared. Which these are, and which round it will be, stands
 *     nowhere in the guest's process; so a kernel cannot leave out the rounds before the last one.
 *     The time of these samples is not counted.
 *
 * To exchange what lies in the slots between rounds would be simpler to explain; but whoever writes
 * them has them in the cache of another processor, and the kernel would wait for them. */
#include "judge/judge_int.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

enum {
    KNOWN = 4,   /* sets for which it is known what they should give */
    CHECKED = 8, /* one sample of so many is checked; which, nobody can know */
    STEP = 64,   /* bytes: what every target may take for granted of an address */
    PLACES = JUDGE__ROOM / STEP,
    FIRST_ROOM = 1 << 12, /* numbers of sets that are drawn for the room */
};

_Static_assert((int)PLACES == (int)BOX_ROUNDS_MAX, "a place for every round");

static const double STEADY_NS = 4e6, BRIEF_NS = 1e8;

struct judge_window {
    struct arena *arena;
    const struct judge__object *object;
    struct judge__pool pool;
    size_t calls; /* of a round */
    size_t rounds;
    double expected; /* of one call */
    double null;     /* a call of nothing */
    bool preempts;   /* the end of a round is seen before the next one can begin */
    size_t *homes;   /* by slot: the place where it is known what its inputs give */
    struct judge__slot *at_home;
    struct judge__set **sets; /* what they give there */
    size_t *slots;            /* of the sample at hand, in the order of each of its rounds */
    size_t *shifts;           /* of all its calls */
};

/* ---- inputs that slide ---- */

static size_t
input_bytes(const struct tensor *tensor)
{
    return (size_t)tensor->count * dtype_info[tensor->dtype].size;
}

/* New numbers, of the same kind: with a copy of what is there a sum over all elements would be the
 * same wherever it begins. */
static void
fill_room(struct judge_window *window, size_t slot, size_t input, char *drawn)
{
    struct judge__case *c = window->pool.c;
    const struct judge__set *set = window->pool.sets[slot];
    size_t bytes = input_bytes(c->program->tensors[input]), piece;
    char *room = (char *)judge__data(c, &c->slots[slot], input) + bytes;
    size_t first = FIRST_ROOM + slot * JUDGE__ROOM;

    for (size_t at = 0; at < JUDGE__ROOM; at += piece) {
        piece = bytes < JUDGE__ROOM - at ? bytes : JUDGE__ROOM - at;
        task_draw(c->program, input, set->kind, judge__set_seed(set->seed, set->kind, first + at),
                  drawn);
        memcpy(room + at, drawn, piece);
    }
}

static void
fill_rooms(struct judge_window *window)
{
    const struct program *program = window->pool.c->program;

    for (size_t i = 0; i < program->input_count; i++) {
        char *drawn = arena_alloc(window->arena, input_bytes(program->tensors[i]) + STEP);

        drawn += -(uintptr_t)drawn % STEP;
        for (size_t slot = 0; slot < window->calls && judge__slides(program->tensors[i]); slot++)
            fill_room(window, slot, i, drawn);
    }
}

/* A slot as it is where its inputs begin at home, and a set for what they give there. */
static void
move_home(struct judge_window *window, size_t slot)
{
    struct judge__case *c = window->pool.c;
    struct judge__slot *moved = &window->at_home[slot];
    const struct judge__set *set = window->pool.sets[slot];
    struct box_region *regions = arena_array(window->arena, c->tensor_count, sizeof *regions);

    memcpy(regions, c->slots[slot].regions, c->tensor_count * sizeof *regions);
    *moved = c->slots[slot];
    moved->regions = regions;
    window->homes[slot] = (size_t)rng_below(&window->pool.random, PLACES) * STEP;
    for (size_t i = 0; i < c->program->input_count; i++)
        if (judge__slides(c->program->tensors[i]))
            regions[i].lead += window->homes[slot];
    window->sets[slot] = arena_alloc(window->arena, sizeof *set);
    *window->sets[slot] = (struct judge__set){.kind = set->kind, .seed = set->seed};
}

/* The places of each slot, another one in each round. Where round number `known` is one of them,
 * the inputs are at home there. */
static void
deal_places(struct judge_window *window, size_t known)
{
    for (size_t call = 0; call < window->calls; call++) {
        size_t places[PLACES], home = window->homes[window->slots[call]] / STEP;

        for (size_t i = 0; i < PLACES; i++)
            places[i] = i;
        for (size_t i = 0; i < PLACES; i++) {
            size_t other = i + (size_t)rng_below(&window->pool.random, PLACES - i);
            size_t kept = places[i];

            places[i] = places[other];
            places[other] = kept;
        }
        for (size_t i = 0; i < PLACES && known < window->rounds; i++)
            if (places[i] == home) {
                places[i] = places[known];
                places[known] = home;
                break;
            }
        for (size_t round = 0; round < window->rounds; round++)
            window->shifts[round * window->calls + call] = places[round] * STEP;
    }
}

/* ---- opening ---- */

static bool
can_slide(const struct judge__case *c)
{
    for (size_t i = 0; i < c->program->input_count; i++)
        if (judge__slides(c->program->tensors[i]))
            return true;
    return false;
}

static void
choose_rounds(struct judge_window *window)
{
    double rounds = ceil(STEADY_NS / (window->expected * (double)window->calls));

    window->rounds = (size_t)fmax(1, fmin(rounds, BOX_ROUNDS_MAX));
    if (window->rounds * window->calls > BOX_CALLS_MAX)
        window->rounds = BOX_CALLS_MAX / window->calls;
    if (!can_slide(window->pool.c))
        window->rounds = 1;
}

/* What some of the slots should give, which nobody can guess: a kernel can tell its slot by its
 * addresses. */
static enum status
know_some(struct judge_window *window, struct diags *diags)
{
    struct judge__case *c = window->pool.c;
    enum status status = STATUS_OK;

    judge__shuffle(&window->pool, window->slots, window->calls);
    for (size_t i = 0; i < window->calls && i < KNOWN && status == STATUS_OK; i++) {
        size_t slot = window->slots[i];

        status = judge__expect_timed(c, &window->at_home[slot], window->sets[slot], diags);
    }
    return status;
}

static void
make_lists(struct judge_window *window)
{
    struct arena *arena = window->arena;
    size_t count = window->pool.count;

    window->homes = arena_array(arena, count, sizeof *window->homes);
    window->at_home = arena_array(arena, count, sizeof *window->at_home);
    window->sets = arena_array(arena, count, sizeof *window->sets);
    window->slots = arena_array(arena, count, sizeof *window->slots);
    window->shifts = arena_array(arena, window->calls * window->rounds, sizeof *window->shifts);
    for (size_t i = 0; i < count; i++) {
        window->at_home[i] = window->pool.c->slots[i];
        window->sets[i] = window->pool.sets[i];
    }
}

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
    status = judge__pool_open(window->arena, c, seed, window->calls, 0, &window->pool, diags);
    if (status != STATUS_OK)
        return status;
    if (window->calls > window->pool.count)
        window->calls = window->pool.count;
    choose_rounds(window);
    make_lists(window);
    if (window->rounds > 1) {
        fill_rooms(window);
        for (size_t i = 0; i < window->calls; i++)
            move_home(window, i);
    }
    return c->task->only_timed ? STATUS_OK : know_some(window, diags);
}

/* ---- samples ---- */

/* Through all slots, so often that what the first calls found cold does not count. */
static enum status
run(struct judge_window *window, size_t stop, struct judge__ran *ran, struct diags *diags)
{
    size_t calls = window->calls * window->rounds;
    bool brief = window->expected * (double)calls < BRIEF_NS;
    struct judge__case *c = window->pool.c;
    struct judge__calls run = {.c = c,
                               .object = window->object,
                               .slots = window->slots,
                               .count = window->calls,
                               .rounds = window->rounds,
                               .stop = stop,
                               .shifts = window->rounds > 1 ? window->shifts : NULL,
                               .threads = c->task->threads,
                               .seconds = brief ? 1 : judge__limit(c, window->object, calls),
                               .realtime = brief,
                               .random = rng_next(&window->pool.random)};
    enum status status = judge__run(&run, ran, diags);

    if (status == STATUS_OK && ran->end.ending != BOX_DONE)
        status = STATUS_NO;
    window->preempts = ran->end.realtime;
    return status;
}

static enum status
take_steady(struct judge_window *window, double *us, bool *disturbed, struct diags *diags)
{
    double calls = (double)(window->calls * window->rounds);
    struct judge__ran ran;
    enum status status;

    judge__shuffle(&window->pool, window->slots, window->calls);
    deal_places(window, window->rounds);
    status = run(window, 0, &ran, diags);
    *disturbed = ran.disturbed;
    *us = fmax(ran.ns / 4, ran.ns - window->null) / calls / 1e3;
    return status;
}

/* Whether the next round may have come to this call before the process was dead. Where it could
 * begin at all this is the guest's own word. */
static bool
is_overwritten(const struct judge_window *window, const struct box_end *end, size_t stop,
               size_t call)
{
    return stop < window->rounds && !end->realtime && end->calls >= stop * window->calls + call;
}

/* Half of the time it is the last one: all counted samples end there, and a guest may say that it
 * has come to the end before it has. One slot alone is overwritten by the very next call. */
static size_t
choose_stop(struct judge_window *window)
{
    bool anywhere = window->calls > 1 || window->preempts;

    if (!anywhere || rng_below(&window->pool.random, 2) == 0)
        return window->rounds;
    return 1 + (size_t)rng_below(&window->pool.random, window->rounds);
}

/* As a steady one, but for what a kernel cannot see: the round behind which it is stopped. */
static enum status
take_checked(struct judge_window *window, struct arena *arena, struct diags *diags)
{
    struct judge__case *c = window->pool.c;
    size_t stop = choose_stop(window);
    struct judge__ran ran;
    enum status status;

    judge__shuffle(&window->pool, window->slots, window->calls);
    deal_places(window, stop - 1);
    status = run(window, stop, &ran, diags);
    for (size_t i = 0; i < window->calls && status == STATUS_OK; i++) {
        size_t number = window->slots[i];
        struct judge__slot *slot = &window->at_home[number];

        slot->poison = c->slots[number].poison;
        if (!is_overwritten(window, &ran.end, stop, i) &&
            !judge__slot_is_right(&window->pool, arena, slot, window->sets[number], NULL))
            status = STATUS_NO;
    }
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
    for (size_t i = 0; i < window->calls && window->sets; i++)
        if (window->sets[i] != window->pool.sets[i])
            judge__set_drop(window->sets[i]);
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
        double taken = 0;
        bool is_disturbed = false;

        if (rng_below(&window->pool.random, CHECKED) == 0)
            status = take_checked(window, arena, diags);
        if (status == STATUS_OK)
            status = take_steady(window, &taken, &is_disturbed, diags);
        if (status == STATUS_OK && is_disturbed)
            disturbed = taken;
        else if (status == STATUS_OK)
            us[(*count)++] = taken;
    } while (status == STATUS_OK && *count < most && clock_seconds() < end);
    if (status == STATUS_OK && *count == 0)
        us[(*count)++] = disturbed;
    arena_destroy(arena);
    return status;
}
