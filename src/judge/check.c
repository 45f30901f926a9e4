/* Is it right: every element of every output, on inputs of every kind.
 *
 * Sets of inputs are taken in groups, one slot each. A group is run three times, each time in a new
 * process: with all threads and the buffers at the left end of their pages, with all threads and
 * the buffers at the right end, and with one thread. Each run has all outputs poisoned before and
 * is compared in full. The calls of one process have different inputs, so a kernel that keeps
 * something from call to call shows itself here: what is wrong as a later call and right as a first
 * one was not computed from its inputs. Of long kernels the second and the third run are those of
 * the first sets only: where a kernel writes and how its threads meet is no matter of numbers. */
#include "judge/judge_int.h"

#include "base/clock.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double MOST_REPEATING = 2; /* seconds; a group that has begun is finished */

struct group {
    struct judge__case *c;
    struct arena *arena;   /* of the verdict */
    struct arena *scratch; /* of this group */
    struct judge__object *object;
    struct judge_case *seen;
    enum judge__care care;
    struct judge_report *report;
    struct judge__set **sets; /* of slots 0, 1, ... */
    size_t count;
    size_t *slots;    /* their numbers, for a run */
    char **before;    /* outputs of the first run: [slot * outputs + output] */
    double repeating; /* seconds that second and third runs took */
    struct rng random;
};

/* ---- one output ---- */

static void
tell_overrun(struct arena *arena, const struct judge__case *c, const struct judge__slot *slot,
             const struct judge__set *set, size_t output, int64_t where, struct judge_wrong *wrong)
{
    judge__describe_wrong(arena, c, slot, set, output, wrong);
    wrong->where = arena_printf(arena, "writes %s of %s",
                                where > 0 ? "past the end" : "before the start", wrong->tensor);
    wrong->guess = NULL;
}

static bool
output_is_right(struct arena *arena, const struct judge__case *c, const struct judge__slot *slot,
                const struct judge__set *set, size_t output, struct judge_case *seen,
                struct judge_wrong *wrong)
{
    const void *data = judge__judged(c, slot, set, output);
    struct comparison comparison;
    int64_t first, overrun = judge__overrun(c, slot, output);

    task_compare(&set->results[output], &set->tolerances[output], data, &comparison);
    if (seen) {
        seen->worst = fmax(seen->worst, comparison.worst);
        seen->elements += set->results[output].tensor->count;
        seen->unjudged += comparison.unjudged;
    }
    /* the poison is a NaN: it is wrong wherever a number is expected */
    bool hidden = (comparison.unjudged > 0 || set->nan || c->rows) &&
                  judge__unwritten(c, slot, output, &first) > 0;
    if (overrun == 0 && comparison.wrong == 0 && !hidden)
        return true;
    if (wrong && overrun != 0)
        tell_overrun(arena, c, slot, set, output, overrun, wrong);
    else if (wrong)
        judge__describe_wrong(arena, c, slot, set, output, wrong);
    return false;
}

bool
judge__right(struct arena *arena, const struct judge__case *c, const struct judge__slot *slot,
             const struct judge__set *set, struct judge_case *seen, struct judge_wrong *wrong)
{
    for (size_t o = 0; o < c->program->output_count; o++)
        if (!output_is_right(arena, c, slot, set, o, seen, wrong))
            return false;
    return true;
}

/* ---- what a wrong call means ---- */

static bool
slots_agree(const struct judge__case *c, size_t a, size_t b)
{
    for (size_t t = c->program->input_count; t < c->tensor_count; t++)
        if (memcmp(judge__data(c, &c->slots[a], t), judge__data(c, &c->slots[b], t),
                   c->slots[a].regions[t].bytes) != 0)
            return false;
    return true;
}

bool
judge__not_computed(const struct judge__case *c, const size_t *slots, size_t call)
{
    int64_t first;

    for (size_t o = 0; o < c->program->output_count; o++)
        if (judge__unwritten(c, &c->slots[slots[call]], o, &first) * 2 >
                c->program->outputs[o]->count ||
            judge__untouched(c, &c->slots[slots[call]], o))
            return true;
    for (size_t i = 0; i < call; i++)
        if (slots_agree(c, slots[i], slots[call]))
            return true;
    return false;
}

static enum status
run(struct group *group, const size_t *slots, size_t count, unsigned threads,
    struct judge__calls *calls, struct judge__ran *ran, struct diags *diags)
{
    *calls = (struct judge__calls){.c = group->c,
                                   .object = group->object,
                                   .slots = slots,
                                   .count = count,
                                   .threads = threads,
                                   .seconds = judge__limit(group->c, group->object, count),
                                   .random = rng_next(&group->random)};
    return judge__run(calls, ran, diags);
}

/* Which kinds of inputs show it. */
static const char *
name_kinds(struct group *group, const bool *right)
{
    struct buf list = buf_in(group->arena);
    size_t wrong = 0;

    for (size_t i = 0; i < group->count; i++)
        if (!right[i])
            buf_printf(&list, "%s%s", wrong++ ? ", " : "", judge__set_name(group->sets[i]));
    if (wrong == group->count && wrong > 1)
        return arena_printf(group->arena, "all %zu kinds, first seen with \"%s\"", wrong,
                            judge__set_name(group->sets[0]));
    return arena_printf(group->arena, "%zu of %zu kinds: %s", wrong, group->count, list.data);
}

/* The call is repeated as the first of a process: a kernel that is then right keeps something. */
static enum status
judge_wrong_call(struct group *group, size_t call, unsigned threads, const bool *right,
                 const char *when, struct diags *diags)
{
    struct judge_report *report = group->report;
    bool lazy = judge__not_computed(group->c, group->slots, call), alone_right = false;
    enum status status = STATUS_OK;
    struct judge__calls calls;
    struct judge__ran ran;

    report->wrong.kinds = name_kinds(group, right);
    report->case_name = group->c->program->case_name;
    if (call > 0) {
        status = run(group, &group->slots[call], 1, threads, &calls, &ran, diags);
        alone_right = status == STATUS_OK && ran.end.ending == BOX_DONE &&
                      judge__right(group->arena, group->c, &group->c->slots[call],
                                   group->sets[call], NULL, NULL);
    }
    report->status = alone_right && lazy ? JUDGE_CHEATED : JUDGE_WRONG;
    if (alone_right && lazy)
        report->reason = arena_printf(
            group->arena, "call %zu of a process %s; as a first call it is right", call + 1,
            report->wrong.unwritten ? "leaves its output unwritten" : "repeats an earlier output");
    else if (alone_right)
        report->reason = arena_printf(group->arena,
                                      "right as a first call, wrong as call %zu: something is kept "
                                      "from call to call",
                                      call + 1);
    else
        report->reason =
            arena_printf(group->arena, "case %s, %lld of %lld elements of %s%s", report->case_name,
                         (long long)report->wrong.wrong, (long long)report->wrong.elements,
                         report->wrong.tensor, when);
    return status;
}

/* ---- a group ---- */

/* Runs all calls of the group and compares them. */
static enum status
run_and_compare(struct group *group, unsigned threads, const char *when, struct diags *diags)
{
    struct judge__case *c = group->c;
    bool *right = arena_array(group->scratch, group->count, sizeof *right);
    size_t first = group->count;
    struct judge__calls calls;
    struct judge__ran ran;
    enum status status = run(group, group->slots, group->count, threads, &calls, &ran, diags);

    if (status != STATUS_OK)
        return status;
    if (ran.end.ending != BOX_DONE) {
        judge__explain_ending(group->arena, &calls, &ran.end, group->report);
        return STATUS_OK;
    }
    if (threads == c->task->threads)
        group->object->ns = ran.ns / (double)group->count;
    for (size_t i = 0; i < group->count; i++) {
        struct judge_wrong *wrong = first == group->count ? &group->report->wrong : NULL;

        right[i] =
            judge__right(group->arena, c, &c->slots[i], group->sets[i], group->seen, wrong) &&
            judge__whole_is_right(group->arena, c, &c->slots[i], group->sets[i],
                                  (struct judge__every){0, 1}, wrong);
        if (!right[i] && first == group->count)
            first = i;
    }
    if (first == group->count)
        return STATUS_OK;
    return judge_wrong_call(group, first, threads, right, when, diags);
}

static void
remember_bits(struct group *group)
{
    struct judge__case *c = group->c;
    size_t outputs = c->program->output_count;

    group->before = arena_array(group->scratch, group->count * outputs, sizeof *group->before);
    for (size_t i = 0; i < group->count * outputs; i++) {
        size_t t = c->program->input_count + i % outputs;
        const struct judge__slot *slot = &c->slots[i / outputs];

        group->before[i] = arena_alloc(group->scratch, slot->regions[t].bytes);
        memcpy(group->before[i], judge__data(c, slot, t), slot->regions[t].bytes);
    }
}

static bool
has_same_bits(const struct group *group)
{
    const struct judge__case *c = group->c;
    size_t outputs = c->program->output_count;

    for (size_t i = 0; i < group->count * outputs; i++) {
        size_t t = c->program->input_count + i % outputs;
        const struct judge__slot *slot = &c->slots[i / outputs];

        if (memcmp(group->before[i], judge__data(c, slot, t), slot->regions[t].bytes) != 0)
            return false;
    }
    return true;
}

static enum status
repeat(struct group *group, struct diags *diags)
{
    struct judge_report *report = group->report;
    unsigned threads = group->c->task->threads;
    enum status status;

    remember_bits(group);
    judge__place(group->c, AT_RIGHT);
    status = run_and_compare(group, threads, ", when the buffers end at the end of a page", diags);
    if (status != STATUS_OK || report->status != JUDGE_BUILT)
        return status;
    report->deterministic = report->deterministic && has_same_bits(group);
    judge__place(group->c, AT_LEFT);
    if (threads == 1)
        return STATUS_OK;
    status = run_and_compare(group, 1, ", with one thread", diags);
    if (status == STATUS_OK && report->status == JUDGE_BUILT)
        report->same_bits = report->same_bits && has_same_bits(group);
    return status;
}

static enum status
check_group(struct group *group, struct diags *diags)
{
    enum status status;

    judge__place(group->c, AT_LEFT);
    status = run_and_compare(group, group->c->task->threads, "", diags);
    if (status != STATUS_OK || group->report->status != JUDGE_BUILT || group->care == ONCE ||
        group->repeating > MOST_REPEATING)
        return status;
    double start = clock_seconds();
    status = repeat(group, diags);
    group->repeating += clock_seconds() - start;
    return status;
}

/* ---- sets ---- */

/* Fills the next slot with a set and what it should give. Infinite inputs that make a NaN say
 * nothing: others are drawn, and after a few attempts the kind is left out. */
static enum status
add_set(struct group *group, struct judge__set *set, struct diags *diags)
{
    struct judge__case *c = group->c;
    struct judge__slot *slot = &c->slots[group->count];

    for (unsigned attempt = 0; attempt < JUDGE__INFINITE_ATTEMPTS; attempt++) {
        enum status status;

        judge__fill(c, slot, set);
        status = judge__expect(c, slot, set, diags);
        if (status != STATUS_OK)
            return status;
        /* of one kind: the others have rows of any size and condition */
        if (group->care == THOROUGH && set->kind == DRAW_NORMAL && !set->given)
            status = judge__expect_whole(c, slot, set, diags);
        if (status != STATUS_OK)
            return status;
        if (set->kind != DRAW_INFINITE || !set->nan) {
            group->slots[group->count] = group->count;
            group->sets[group->count++] = set;
            return STATUS_OK;
        }
        judge__set_drop(set);
        set->seed += UINT64_C(1) << 60;
    }
    return STATUS_OK;
}

/* The case's own set of this kind; for a second round another. */
static struct judge__set *
set_of_kind(struct judge__case *c, struct arena *arena, enum distribution kind, uint64_t seed,
            unsigned round)
{
    struct judge__set *set = round == 0 ? &c->kept[kind] : arena_alloc(arena, sizeof *set);

    judge__set_choose(set, kind, judge__set_seed(seed, kind, round));
    return set;
}

/* Inputs that somebody proposed; what they leave open is drawn anew for each verdict. */
static struct judge__set *
set_of_pattern(struct judge__case *c, struct arena *arena, size_t number, uint64_t seed,
               unsigned round)
{
    enum { BEHIND_ALL = 512 };
    struct judge__set *set = arena_alloc(arena, sizeof *set);

    judge__set_choose(set, DRAW_NORMAL,
                      judge__set_seed(seed, DRAW_NORMAL, BEHIND_ALL + number + (round << 10)));
    set->given = &c->given[number];
    return set;
}

/* The nth set of a case: one of each kind, then the patterns. */
static struct judge__set *
set_at(struct judge__case *c, struct arena *arena, size_t number, uint64_t seed, unsigned round)
{
    return number < c->kind_count ? set_of_kind(c, arena, c->kinds[number], seed, round)
                                  : set_of_pattern(c, arena, number - c->kind_count, seed, round);
}

enum status
judge__check_case(struct judge__case *c, struct arena *arena, struct judge__object *object,
                  enum judge__care care, unsigned round, struct judge_case *seen,
                  struct judge_report *report, struct diags *diags)
{
    struct group group = {.c = c, .object = object, .care = care, .seen = seen, .report = report};
    enum status status = STATUS_OK;
    size_t next = 0, sets = c->kind_count + (care == THOROUGH ? c->given_count : 0);

    group.random = rng_stream(report->seed, c->program->case_name);
    group.random.count = (uint64_t)round << 32;
    group.arena = arena;
    group.sets = arena_array(arena, c->slot_count, sizeof *group.sets);
    group.slots = arena_array(arena, c->slot_count, sizeof *group.slots);
    judge__place(c, AT_LEFT);
    while (next < sets && status == STATUS_OK && report->status == JUDGE_BUILT) {
        group.count = 0;
        group.scratch = arena_create();
        if (!group.scratch)
            return judge__no_memory(diags);
        while (next < sets && group.count < c->slot_count && status == STATUS_OK)
            status = add_set(&group, set_at(c, arena, next++, report->seed, round), diags);
        if (status == STATUS_OK && group.count > 0)
            status = check_group(&group, diags);
        for (size_t i = 0; i < group.count; i++)
            if (!c->keeps || group.sets[i] != &c->kept[group.sets[i]->kind])
                judge__set_drop(group.sets[i]);
        arena_destroy(group.scratch);
    }
    return status;
}

enum status
judge_check(struct judge_task *task, struct arena *arena, struct judge_kernel *kernel,
            unsigned sets, struct judge_report *report, struct diags *diags)
{
    enum status status = STATUS_OK;

    assert(kernel && report->status == JUDGE_BUILT);
    for (unsigned round = 0; round < (sets ? sets : 1); round++)
        for (size_t i = 0; i < task->case_count; i++) {
            judge__progress(task->judge, "%s  checking case %s", kernel->file,
                            task->cases[i].program->case_name);
            status = judge__check_case(&task->cases[i], arena, &kernel->objects[i], THOROUGH, round,
                                       &report->cases[i], report, diags);
            if (status != STATUS_OK || report->status != JUDGE_BUILT)
                return status;
        }
    return status;
}
