/* Which of two kernels is faster: pairs of samples in random order on the same memory, until the
 * rule is satisfied. */
#include "judge/judge_int.h"

#include <math.h>

struct pair {
    struct judge__pool pool;
    const struct judge__object *objects[2]; /* incumbent, candidate */
    size_t calls[2];
    double ns[2];
    double expected; /* of one call, of the slower one */
    bool disturbed;
};

static enum status
take(struct pair *pair, struct arena *arena, size_t which, struct diags *diags)
{
    struct judge__sample sample;
    enum status status = judge__sample(&pair->pool, arena, pair->objects[which], pair->calls[which],
                                       pair->expected, false, &sample, diags);

    if (status == STATUS_OK && sample.end.ending != BOX_DONE) {
        diags_add(diags, DIAG_ERROR, (struct place){0},
                  "a kernel that was right %s when it was compared",
                  box_ending_name(sample.end.ending));
        return STATUS_MACHINE;
    }
    pair->ns[which] = sample.ns;
    pair->disturbed = pair->disturbed || sample.disturbed;
    return status;
}

static enum status
prepare(struct pair *pair, struct judge__case *c, struct arena *arena, uint64_t seed,
        struct diags *diags)
{
    double null, slowest = 0;
    enum status status = judge__null(c, &null, diags);

    for (size_t i = 0; i < 2 && status == STATUS_OK; i++) {
        struct judge__sample sample;

        status = judge__pilot(c, arena, pair->objects[i], seed, &sample, diags);
        slowest = fmax(slowest, sample.ns);
    }
    if (status != STATUS_OK)
        return status;
    status = judge__pool_open(arena, c, seed, judge__calls_for(c, slowest), 0, &pair->pool, diags);
    pair->expected = slowest;
    pair->calls[0] = pair->calls[1] = pair->pool.count;
    return status;
}

enum status
judge_compare(struct judge_task *task, struct judge_kernel *incumbent,
              struct judge_kernel *candidate, size_t number, const struct measure_rule *rule,
              struct measure_outcome *outcome, struct diags *diags)
{
    struct judge__case *c = &task->cases[number];
    struct pair pair = {.objects = {&incumbent->objects[number], &candidate->objects[number]}};
    struct arena *arena = arena_create();
    struct measure_rule own = rule ? *rule : measure_usual_rule;
    enum status status;

    if (!arena) {
        diags_add(diags, DIAG_ERROR, (struct place){0}, "out of memory");
        return STATUS_MACHINE;
    }
    own.seed = judge__secret();
    struct measure_decision *decision = measure_decision_create(arena, &own);
    status = prepare(&pair, c, arena, task->seed, diags);
    while (status == STATUS_OK && measure_decision_asks(decision)) {
        size_t first = measure_decision_candidate_first(decision);

        pair.disturbed = false;
        status = take(&pair, arena, first, diags);
        if (status == STATUS_OK)
            status = take(&pair, arena, !first, diags);
        if (status == STATUS_OK)
            measure_decision_tell(decision, pair.ns[0], pair.ns[1], pair.disturbed);
    }
    if (status == STATUS_OK)
        *outcome = measure_decision_outcome(decision);
    judge__pool_close(&pair.pool);
    arena_destroy(arena);
    return status;
}
