/* One sample of time: a new process, some calls on inputs it has never seen, timed from outside.
 *
 * The inputs lie in as many slots as a sample has calls; each sample takes them in another order,
 * so that no call can know whether it will be looked at, nor which inputs it gets. */
#include "judge/judge_int.h"

#include <math.h>
#include <unistd.h>

/* Many short samples tell more than few long ones, down to where the handshake's own noise shows.
 * The judge that spins has less of it than the one that must be woken. */
static const double SPIN_NS = 1e5, FUTEX_NS[JUDGE_EFFORT_COUNT] = {2e5, 5e5};
static const double BRIEF_NS = 1e8; /* what is so short may go before other processes */
enum { NULL_SAMPLES = 15, FIRST_TIMED = 16 };

/* ---- the pool ---- */

/* Whether the sets of the check are timed. New ones are better, since then no process has ever seen
 * the inputs; but they must be drawn and evaluated. */
static bool
takes_checked_sets(const struct judge__case *c)
{
    return c->freshness != FRESH || c->task->effort == JUDGE_QUICK;
}

static size_t
sets_there_are(const struct judge__case *c, size_t wanted)
{
    size_t most = c->freshness == TWO_SETS ? 1
                  : takes_checked_sets(c)  ? JUDGE__TIMED_KINDS
                                           : wanted;

    most = most < wanted ? most : wanted;
    return most < c->slot_count ? most : c->slot_count;
}

static struct judge__set *
timed_set(struct judge__case *c, struct arena *arena, uint64_t seed, size_t number)
{
    bool checked = takes_checked_sets(c);
    enum distribution kind = checked ? judge__timed_kinds[number] : DRAW_NORMAL;
    struct judge__set *set = checked ? &c->kept[kind] : arena_alloc(arena, sizeof *set);

    judge__set_choose(set, kind, judge__set_seed(seed, kind, checked ? 0 : FIRST_TIMED + number));
    return set;
}

void
judge__shuffle(struct judge__pool *pool, size_t *slots, size_t calls)
{
    for (size_t i = 0; i < pool->count; i++)
        slots[i] = i;
    for (size_t i = 0; i < calls; i++) {
        size_t other = i + (size_t)rng_below(&pool->random, pool->count - i), kept = slots[i];

        slots[i] = slots[other];
        slots[other] = kept;
    }
}

/* A search sorts its candidates by some rows; a verdict looks at all of them, as its check does. */
enum status
judge__expect_timed(struct judge__case *c, const struct judge__slot *slot, struct judge__set *set,
                    struct diags *diags)
{
    enum status status = judge__expect(c, slot, set, diags);

    if (status == STATUS_OK && set->kind == DRAW_NORMAL && c->task->effort != JUDGE_QUICK)
        status = judge__expect_whole(c, slot, set, diags);
    return status;
}

enum status
judge__pool_open(struct arena *arena, struct judge__case *c, uint64_t seed, size_t wanted,
                 size_t evaluated, struct judge__pool *pool, struct diags *diags)
{
    enum status status = STATUS_OK;
    size_t *slots;

    if (c->task->only_timed)
        evaluated = 0;
    *pool = (struct judge__pool){.c = c, .count = sets_there_are(c, wanted)};
    pool->random = rng_stream(seed, "timed calls");
    pool->sets = arena_array(arena, pool->count, sizeof *pool->sets);
    slots = arena_array(arena, pool->count, sizeof *slots);
    judge__place(c, AT_LEFT);
    for (size_t i = 0; i < pool->count; i++) {
        pool->sets[i] = timed_set(c, arena, seed, i);
        judge__fill(c, &c->slots[i], pool->sets[i]);
    }
    judge__shuffle(pool, slots, pool->count); /* a kernel can tell its slot by its addresses */
    for (size_t i = 0; i < pool->count && i < evaluated && status == STATUS_OK; i++)
        status = judge__expect_timed(c, &c->slots[slots[i]], pool->sets[slots[i]], diags);
    return status;
}

void
judge__pool_close(struct judge__pool *pool)
{
    for (size_t i = 0; i < pool->count; i++)
        if (pool->sets[i] && pool->sets[i] != &pool->c->kept[pool->sets[i]->kind])
            judge__set_drop(pool->sets[i]);
    pool->count = 0;
}

/* A sample's data stay near: more sets than the last cache holds would time the memory behind it.
 * A part of that cache is enough to ask for; others use it too. */
static double
sets_near(const struct judge__case *c)
{
    return fmax(1, floor(judge__near_bytes(c->task->judge) / 4 / (double)c->slot_bytes));
}

size_t
judge__calls_for(const struct judge__case *c, double ns)
{
    bool spins = c->task->threads < c->task->judge->cpu_count;
    double calls = ceil((spins ? SPIN_NS : FUTEX_NS[c->task->effort]) / fmax(ns, 1));

    return (size_t)fmin(fmin(calls, sets_near(c)), (double)c->slot_count);
}

/* ---- one sample ---- */

/* What a call of nothing takes with the task's threads; 0: not measured yet. */
static double
known_null(const struct judge__case *c)
{
    const struct judge *judge = c->task->judge;

    for (size_t i = 0; i < judge->null_count; i++)
        if (judge->null[i].threads == c->task->threads)
            return judge->null[i].ns;
    return 0;
}

static void
note_wrong(const struct judge__case *c, size_t call, struct judge__sample *sample)
{
    sample->wrong = true;
    sample->wrong_call = call + 1;
    sample->lazy = judge__not_computed(c, sample->calls.slots, call);
}

/* Of a large output another part in each sample, which nobody can know: all would take longer than
 * the kernel. */
static struct judge__every
a_part(struct judge__pool *pool)
{
    enum { PARTS = 8 };

    return (struct judge__every){(unsigned)rng_below(&pool->random, PARTS), PARTS};
}

bool
judge__slot_is_right(struct judge__pool *pool, struct arena *arena, const struct judge__slot *slot,
                     const struct judge__set *set, struct judge_wrong *wrong)
{
    const struct judge__case *c = pool->c;
    int64_t first;

    if (set->arena)
        return judge__right(arena, c, slot, set, NULL, wrong) &&
               judge__whole_is_right(arena, c, slot, set, a_part(pool), wrong);
    for (size_t o = 0; o < c->program->output_count; o++)
        if (judge__unwritten(c, slot, o, &first) > 0 || judge__overrun(c, slot, o) != 0)
            return false;
    return true;
}

static void
check_calls(struct judge__pool *pool, struct arena *arena, struct judge__sample *sample)
{
    struct judge__case *c = pool->c;

    for (size_t i = 0; i < sample->calls.count && !sample->wrong; i++) {
        size_t number = sample->calls.slots[i];
        const struct judge__set *set = pool->sets[number];

        sample->checked += set->arena != NULL;
        if (!judge__slot_is_right(pool, arena, &c->slots[number], set, &sample->what))
            note_wrong(c, i, sample);
    }
}

enum status
judge__sample(struct judge__pool *pool, struct arena *arena, const struct judge__object *object,
              size_t calls, double expected, bool check, struct judge__sample *sample,
              struct diags *diags)
{
    bool brief = expected > 0 && expected * (double)calls < BRIEF_NS;
    struct judge__case *c = pool->c;
    size_t *slots = arena_array(arena, pool->count, sizeof *slots);
    struct judge__ran ran;
    enum status status;

    *sample = (struct judge__sample){0};
    judge__shuffle(pool, slots, calls);
    sample->calls = (struct judge__calls){.c = c,
                                          .object = object,
                                          .slots = slots,
                                          .count = calls,
                                          .threads = c->task->threads,
                                          .seconds = brief ? 1 : judge__limit(c, object, calls),
                                          .realtime = brief,
                                          .random = rng_next(&pool->random)};
    status = judge__run(&sample->calls, &ran, diags);
    if (status != STATUS_OK)
        return status;
    sample->end = ran.end;
    sample->disturbed = ran.disturbed;
    if (ran.end.ending != BOX_DONE)
        return STATUS_OK;
    sample->ns = fmax(ran.ns / 4, ran.ns - known_null(c)) / (double)calls;
    if (check)
        check_calls(pool, arena, sample);
    return STATUS_OK;
}

bool
judge__accept(struct arena *arena, const struct judge__sample *sample, struct judge_case *seen,
              struct judge_report *report)
{
    seen->timed_calls_checked += sample->checked;
    if (sample->end.ending != BOX_DONE) {
        judge__explain_ending(arena, &sample->calls, &sample->end, report);
        return false;
    }
    if (!sample->wrong)
        return true;
    report->wrong = sample->what;
    report->case_name = sample->calls.c->program->case_name;
    report->status = JUDGE_WRONG;
    report->reason = arena_printf(arena, "case %s, %lld of %lld elements of %s", report->case_name,
                                  (long long)report->wrong.wrong, (long long)report->wrong.elements,
                                  report->wrong.tensor);
    return false;
}

enum status
judge__pilot(struct judge__case *c, struct arena *arena, const struct judge__object *object,
             uint64_t seed, struct judge__sample *sample, struct diags *diags)
{
    struct judge__pool pool;
    struct judge__sample again;
    enum status status = judge__pool_open(arena, c, seed, 1, 0, &pool, diags);

    if (status == STATUS_OK)
        status = judge__sample(&pool, arena, object, 1, 0, false, sample, diags);
    if (status == STATUS_OK && sample->end.ending == BOX_DONE && sample->ns < 1e8) {
        status = judge__sample(&pool, arena, object, 1, 0, false, &again, diags);
        if (status == STATUS_OK && again.end.ending == BOX_DONE)
            sample->ns = fmin(sample->ns, again.ns);
    }
    judge__pool_close(&pool);
    return status;
}

/* ---- nothing ---- */

static enum status
build_nothing(struct judge__case *c, struct arena *arena, struct judge__object *object,
              struct diags *diags)
{
    const struct target *target = c->task->target;
    struct target_kernel plain = {.text = "", .length = 0};
    struct buf text = buf_in(arena), defines = buf_in(arena), headers = buf_in(arena);
    struct judge_report report = {0};
    enum status status;

    target->signature(&text, c->program);
    buf_puts(&text, "\n{\n}\n");
    target->prelude(&defines, c->program);
    target_put_headers(&headers, target, &plain);
    struct judge__source source = {.compiler = target->compiler,
                                   .flags = target_arguments(arena, target, &plain, NULL),
                                   .headers = headers.data,
                                   .defines = defines.data,
                                   .file = "nothing.c",
                                   .text = text.data,
                                   .length = text.length};
    status = judge__object(c->task->judge, arena, target, &source, object, &report, diags);
    if (status == STATUS_OK && report.status != JUDGE_BUILT) {
        diags_add(diags, DIAG_ERROR, (struct place){0}, "an empty kernel cannot be built: %s",
                  report.reason);
        status = STATUS_MACHINE;
    }
    return status;
}

static enum status
measure_nothing(struct judge__case *c, struct arena *arena, const struct judge__object *object,
                double *ns, struct diags *diags)
{
    struct judge__pool pool;
    struct judge__sample sample;
    double times[NULL_SAMPLES];
    enum status status = judge__pool_open(arena, c, c->task->seed, 1, 0, &pool, diags);

    for (size_t i = 0; i < NULL_SAMPLES && status == STATUS_OK; i++) {
        status = judge__sample(&pool, arena, object, 1, 1, false, &sample, diags);
        times[i] = sample.ns;
        if (status == STATUS_OK && sample.end.ending != BOX_DONE) {
            diags_add(diags, DIAG_ERROR, (struct place){0}, "an empty kernel cannot be run: %s",
                      sample.end.reason);
            status = STATUS_MACHINE;
        }
    }
    judge__pool_close(&pool);
    if (status != STATUS_OK)
        return status;
    measure_summarise(times, NULL_SAMPLES); /* sorts them */
    *ns = times[1]; /* on a busy machine the middle is somebody else's time */
    return STATUS_OK;
}

enum status
judge__null(struct judge__case *c, double *ns, struct diags *diags)
{
    struct judge *judge = c->task->judge;
    struct judge__object object = {.fd = -1};
    struct arena *arena;
    enum status status;

    *ns = known_null(c);
    if (*ns > 0)
        return STATUS_OK;
    arena = arena_create();
    if (!arena)
        return judge__no_memory(diags);
    status = build_nothing(c, arena, &object, diags);
    if (status == STATUS_OK)
        status = measure_nothing(c, arena, &object, ns, diags);
    if (object.fd >= 0)
        close(object.fd);
    arena_destroy(arena);
    if (status == STATUS_OK) {
        judge->null_count %= sizeof judge->null / sizeof *judge->null;
        judge->null[judge->null_count].threads = c->task->threads;
        judge->null[judge->null_count++].ns = *ns;
    }
    return status;
}
