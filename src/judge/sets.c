/* Sets of inputs, and what they should give.
 *
 * How fresh they are depends on what the reference costs: below 5 ms every verdict draws its own;
 * up to a second there is one set of each kind for the task; up to a minute there are two. Always:
 * nobody outside knows the seed, and no process sees the same inputs twice. */
#include "judge/judge_int.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

static const double CHEAP = 5e-3, DEAR = 1.0; /* seconds */
static const double CLEAR = 0.1;              /* between the two: one look is enough */

const enum distribution judge__timed_kinds[JUDGE__TIMED_KINDS] = {
    DRAW_NORMAL, DRAW_UNIFORM, DRAW_SMALL, DRAW_OFFSET, DRAW_RAMP, DRAW_HEAVY};

uint64_t
judge__set_seed(uint64_t seed, enum distribution kind, size_t number)
{
    return (seed & 0xffffffff) | (uint64_t)kind << 32 | (uint64_t)number << 40;
}

void
judge__fill(const struct judge__case *c, struct judge__slot *slot, const struct judge__set *set)
{
    if (slot->filled && slot->set_seed == set->seed)
        return;
    for (size_t i = 0; i < c->program->input_count; i++) {
        const struct tensor *tensor = c->program->tensors[i];
        if (set->given && set->given->data[i])
            memcpy(judge__data(c, slot, i), set->given->data[i],
                   (size_t)tensor->count * dtype_info[tensor->dtype].size);
        else
            task_draw(c->program, i, set->kind, set->seed, judge__data(c, slot, i));
    }
    slot->filled = true;
    slot->set_seed = set->seed;
}

const char *
judge__set_name(const struct judge__set *set)
{
    return set->given ? set->given->name : distribution_name[set->kind];
}

/* Is some result a NaN; or, `all`, is every one? */
static bool
has_nan(const struct judge__case *c, const struct judge__set *set, bool all)
{
    for (size_t o = 0; o < c->program->output_count; o++)
        for (int64_t i = 0; i < set->results[o].tensor->count; i++)
            if (!isnan(set->results[o].v[i]) == all)
                return !all;
    return all;
}

enum status
judge__expect(struct judge__case *c, const struct judge__slot *slot, struct judge__set *set,
              struct diags *diags)
{
    size_t outputs = c->program->output_count;
    struct arena *scratch;
    enum status status;

    if (set->arena)
        return STATUS_OK;
    set->arena = arena_create();
    scratch = arena_create();
    if (!set->arena || !scratch) {
        judge__set_drop(set);
        arena_destroy(scratch);
        return judge__no_memory(diags);
    }
    const void **inputs = judge__reference_inputs(scratch, c, slot, set);
    set->results = arena_array(set->arena, outputs, sizeof *set->results);
    set->tolerances = arena_array(set->arena, outputs, sizeof *set->tolerances);
    status = evaluator_run(set->arena, c->evaluator, inputs, set->results, set->tolerances, diags);
    arena_destroy(scratch);
    if (status != STATUS_OK)
        judge__set_drop(set);
    else
        set->nan = has_nan(c, set, false);
    return status;
}

void
judge__set_choose(struct judge__set *set, enum distribution kind, uint64_t seed)
{
    if (set->seed != seed)
        judge__set_drop(set);
    set->kind = kind;
    set->seed = seed;
}

void
judge__set_drop(struct judge__set *set)
{
    arena_destroy(set->arena);
    set->arena = NULL;
    set->whole = NULL;
}

/* ---- how many, how fresh ---- */

/* How long drawing and evaluating the task's own set of this kind takes. The set stays: where that
 * takes long it is the one that kernels are checked and timed on. */
static enum status
try_kind(struct judge__case *c, enum distribution kind, double *seconds, struct diags *diags)
{
    struct judge__set *set = &c->kept[kind];
    double start = clock_seconds();
    enum status status;

    judge__set_drop(set);
    judge__set_choose(set, kind, judge__set_seed(c->task->seed, kind, 0));
    c->slots[0].filled = false;
    judge__fill(c, &c->slots[0], set);
    status = judge__expect(c, &c->slots[0], set, diags);
    *seconds = clock_seconds() - start;
    return status;
}

/* Infinite inputs say something only where the result is not NaN. Where all of it is, as behind
 * layers of a network, others would do no better, and take long. */
static enum status
try_infinite(struct judge__case *c, bool *nan, struct diags *diags)
{
    enum status status = STATUS_OK;
    bool hopeless = false;

    *nan = true;
    for (size_t i = 0; i < JUDGE__INFINITE_ATTEMPTS && *nan && !hopeless && status == STATUS_OK;
         i++) {
        /* the attempt stands in the seed's highest bits: see task_draw() */
        struct judge__set set = {
            .kind = DRAW_INFINITE,
            .seed = judge__set_seed(c->task->seed, DRAW_INFINITE, 255 + (i << 20))};

        judge__fill(c, &c->slots[0], &set);
        status = judge__expect(c, &c->slots[0], &set, diags);
        *nan = set.nan;
        hopeless = status == STATUS_OK && c->reference_seconds >= CLEAR && has_nan(c, &set, true);
        judge__set_drop(&set);
    }
    return status;
}

static bool
is_timed(enum distribution kind)
{
    for (size_t i = 0; i < JUDGE__TIMED_KINDS; i++)
        if (judge__timed_kinds[i] == kind)
            return true;
    return false;
}

/* The timed ones first. A search looks at no others. */
static enum status
choose_all(struct judge__case *c, struct diags *diags)
{
    enum status status = STATUS_OK;
    bool nan = true;

    for (size_t i = 0; i < JUDGE__TIMED_KINDS; i++)
        c->kinds[c->kind_count++] = judge__timed_kinds[i];
    for (unsigned kind = 0; kind < DRAW_COUNT; kind++)
        if (kind != DRAW_INFINITE && !is_timed((enum distribution)kind))
            c->kinds[c->kind_count++] = (enum distribution)kind;
    if (!c->task->same_inputs)
        status = try_infinite(c, &nan, diags);
    if (status == STATUS_OK && !nan)
        c->kinds[c->kind_count++] = DRAW_INFINITE;
    return status;
}

enum status
judge__choose_kinds(struct judge__case *c, struct diags *diags)
{
    double seconds = 0, least = INFINITY;
    enum status status = STATUS_OK;

    if (c->task->only_timed) {
        c->freshness = ONE_EACH;
        return choose_all(c, diags);
    }
    /* the first one warms up; another process may be in the way of any */
    for (unsigned i = 0; i < 3 && status == STATUS_OK && seconds < CLEAR; i++) {
        status = try_kind(c, i % 2 ? DRAW_UNIFORM : DRAW_NORMAL, &seconds, diags);
        least = fmin(least, seconds);
    }
    if (status != STATUS_OK)
        return status;
    c->reference_seconds = least;
    c->freshness = least <= CHEAP ? FRESH : least <= DEAR ? ONE_EACH : TWO_SETS;
    if (c->freshness != TWO_SETS)
        return choose_all(c, diags);
    c->kinds[c->kind_count++] = DRAW_NORMAL;
    c->kinds[c->kind_count++] = DRAW_MIXED;
    return STATUS_OK;
}
