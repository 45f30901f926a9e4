/* Which of two kernels is faster: pairs of samples in random order on the same memory, until the
 * rule is satisfied. */
#include "judge/judge_int.h"

#include <math.h>

enum {
    KNOWN = 4,   /* sets for which it is known what they should give */
    CHECKED = 4, /* one sample of so many is checked; which, nobody can know */
};

static const double SECONDS = 1; /* for the rounds of a rule that somebody gives */

struct pair {
    struct judge__pool pool;
    const struct judge__object *objects[2]; /* incumbent, candidate */
    size_t calls;
    double ns[2];
    double expected; /* of one call, of the slower one */
    bool disturbed;
    bool failed[2]; /* one that was right when it was judged */
};

/* A sample of one of the two. */
static enum status
take(struct pair *pair, struct arena *arena, size_t which, struct diags *diags)
{
    struct judge__sample sample = {0};
    bool check = rng_below(&pair->pool.random, CHECKED) == 0;
    enum status status = judge__sample(&pair->pool, arena, pair->objects[which], pair->calls,
                                       pair->expected, check, &sample, diags);

    if (status == STATUS_OK && (sample.end.ending != BOX_DONE || sample.wrong))
        pair->failed[which] = true;
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
        struct judge__sample sample = {.ns = pair->objects[i]->ns};

        if (sample.ns <= 0)
            status = judge__pilot(c, arena, pair->objects[i], seed, &sample, diags);
        slowest = fmax(slowest, sample.ns);
    }
    if (status != STATUS_OK)
        return status;
    status =
        judge__pool_open(arena, c, seed, judge__calls_for(c, slowest), KNOWN, &pair->pool, diags);
    pair->expected = slowest;
    pair->calls = pair->pool.count;
    return status;
}

/* The rounds of a rule that fit into its seconds, and enough to tell anything. */
static void
limit_rounds(struct measure_rule *rule, double ns)
{
    enum { FEWEST = 6 }; /* all of them the same way: one chance in 32 */
    double fit = fmax(FEWEST, SECONDS * 1e9 / (2 * ns));

    if (fit < (double)rule->last)
        rule->last = (size_t)fit;
    if (rule->first > rule->last)
        rule->first = rule->last;
}

enum status
judge_compare(struct judge_task *task, struct judge_kernel *incumbent,
              struct judge_kernel *candidate, size_t number, const struct measure_rule *rule,
              struct measure_outcome *outcome, struct judge_kernel **failed, struct diags *diags)
{
    struct judge__case *c = &task->cases[number];
    struct pair pair = {.objects = {&incumbent->objects[number], &candidate->objects[number]}};
    struct arena *arena = arena_create();
    struct measure_rule own = rule ? *rule : measure_usual_rule;
    enum status status;

    if (!arena)
        return judge__no_memory(diags);
    own.seed = judge__secret();
    status = prepare(&pair, c, arena, task->seed, diags);
    if (rule)
        limit_rounds(&own, pair.expected);
    struct measure_decision *decision = measure_decision_create(arena, &own);
    while (status == STATUS_OK && !pair.failed[0] && !pair.failed[1] &&
           measure_decision_asks(decision)) {
        size_t first = measure_decision_candidate_first(decision);

        pair.disturbed = false;
        status = take(&pair, arena, first, diags);
        if (status == STATUS_OK)
            status = take(&pair, arena, !first, diags);
        if (status == STATUS_OK && !pair.failed[0] && !pair.failed[1])
            measure_decision_tell(decision, pair.ns[0], pair.ns[1], pair.disturbed);
    }
    *failed = pair.failed[0] ? incumbent : pair.failed[1] ? candidate : NULL;
    if (status == STATUS_OK)
        *outcome = measure_decision_outcome(decision);
    judge__pool_close(&pair.pool);
    arena_destroy(arena);
    return status;
}
