/* Faster, slower, equal or a tie: a group-sequential decision on paired times.
 *
 * A round gives one time of each kernel, one right after the other, so that what disturbs both
 * cancels in log(candidate / incumbent). After 16, 32, ... rounds one looks at the exact interval
 * of the median of these; the looks share the error between them, so that looking often does not
 * find differences that are not there. The margin keeps biases of a few thousandths, which no
 * number of rounds removes, from being called a difference.
 *
 *  D1  the outcome is a function of the rule and of what was told, nothing else
 *  D2  once decided, nothing changes it
 *  D3  a disturbed round touches neither value: it is repeated whole, and counted; too many of them
 *      end it without a statement, unless all agree by more than BEYOND_DISTURBANCE: then it is
 *      decided nevertheless */
#include "measure/measure.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const char *const measure_verdict_name[MEASURE_VERDICT_COUNT] = {
#define X(id, name) [MEASURE_##id] = name,
    MEASURE_VERDICTS(X)
#undef X
};

const struct measure_rule measure_usual_rule = {
    .first = 16,
    .last = 512,
    .alpha = 0.05,
    .margin = 0.0025,
    .equal = 0.01,
    .disturbed_share = 0.3,
};

static const double BEYOND_DISTURBANCE = 4; /* times as slow */

struct measure_decision {
    struct measure_rule rule;
    double alpha; /* of one look */
    size_t next;  /* rounds at the next look */
    struct rng order;
    double least_disturbed, most_disturbed; /* ratios of disturbed rounds */
    struct measure_outcome outcome;
    double *ratios, *sorted; /* logarithms, rule.last of them */
};

static size_t
count_looks(const struct measure_rule *rule)
{
    size_t looks = 1;
    for (size_t rounds = rule->first; rounds < rule->last; rounds *= 2)
        looks++;
    return looks;
}

struct measure_decision *
measure_decision_create(struct arena *arena, const struct measure_rule *rule)
{
    assert(rule->first > 0 && rule->first <= rule->last && rule->margin <= rule->equal);
    struct measure_decision *decision = arena_alloc(arena, sizeof *decision);
    decision->rule = *rule;
    decision->alpha = rule->alpha / (double)count_looks(rule);
    decision->next = rule->first;
    decision->order = rng_stream(rule->seed, "order of a pair");
    decision->ratios = arena_array(arena, rule->last, sizeof(double));
    decision->sorted = arena_array(arena, rule->last, sizeof(double));
    decision->outcome = (struct measure_outcome){.ratio = NAN, .low = NAN, .high = NAN};
    return decision;
}

bool
measure_decision_asks(const struct measure_decision *decision)
{
    return decision->outcome.verdict == MEASURE_OPEN;
}

bool
measure_decision_candidate_first(const struct measure_decision *decision)
{
    const struct measure_outcome *outcome = &decision->outcome;
    return rng_at(&decision->order, outcome->rounds + outcome->disturbed) & 1;
}

static enum measure_verdict
verdict_of(const struct measure_rule *rule, double low, double high)
{
    if (high < -rule->margin)
        return MEASURE_FASTER;
    if (low > rule->margin)
        return MEASURE_SLOWER;
    if (low > -rule->equal && high < rule->equal)
        return MEASURE_EQUAL;
    return MEASURE_OPEN;
}

static void
look(struct measure_decision *decision)
{
    struct measure_outcome *outcome = &decision->outcome;
    size_t low, high;
    memcpy(decision->sorted, decision->ratios, outcome->rounds * sizeof(double));
    struct measure_summary summary = measure_summarise(decision->sorted, outcome->rounds);
    outcome->ratio = exp(summary.median);
    if (measure_median_ranks(outcome->rounds, decision->alpha, &low, &high)) {
        outcome->low = exp(decision->sorted[low]);
        outcome->high = exp(decision->sorted[high]);
        outcome->verdict =
            verdict_of(&decision->rule, decision->sorted[low], decision->sorted[high]);
    }
    if (outcome->verdict == MEASURE_OPEN && outcome->rounds == decision->rule.last)
        outcome->verdict = MEASURE_TIE;
    decision->next =
        2 * decision->next < decision->rule.last ? 2 * decision->next : decision->rule.last;
}

/* The share is of at least twice the first look, or one bad round at the start would end it. If all
 * of so many rounds agree, and by more than a disturbance explains, it is decided nevertheless. */
static void
drop(struct measure_decision *decision, double ratio)
{
    struct measure_outcome *outcome = &decision->outcome;
    enum measure_verdict clear = MEASURE_NOISY;
    bool first = outcome->disturbed++ == 0;
    decision->least_disturbed = first ? ratio : fmin(decision->least_disturbed, ratio);
    decision->most_disturbed = first ? ratio : fmax(decision->most_disturbed, ratio);
    double rounds =
        fmax((double)(outcome->rounds + outcome->disturbed), 2 * (double)decision->rule.first);
    if (decision->least_disturbed > log(BEYOND_DISTURBANCE))
        clear = MEASURE_SLOWER;
    if (decision->most_disturbed < -log(BEYOND_DISTURBANCE))
        clear = MEASURE_FASTER;
    if ((double)outcome->disturbed > decision->rule.disturbed_share * rounds) {
        outcome->verdict = clear;
        if (clear != MEASURE_NOISY) {
            outcome->low = exp(decision->least_disturbed);
            outcome->high = exp(decision->most_disturbed);
            outcome->ratio = sqrt(outcome->low * outcome->high);
        }
    }
}

void
measure_decision_tell(struct measure_decision *decision, double incumbent, double candidate,
                      bool disturbed)
{
    struct measure_outcome *outcome = &decision->outcome;
    assert(incumbent > 0 && candidate > 0);
    if (outcome->verdict != MEASURE_OPEN)
        return;
    double ratio = log(candidate / incumbent);
    if (disturbed) {
        drop(decision, ratio);
        return;
    }
    decision->ratios[outcome->rounds++] = ratio;
    if (outcome->rounds == decision->next)
        look(decision);
}

struct measure_outcome
measure_decision_outcome(const struct measure_decision *decision)
{
    return decision->outcome;
}
