/* The decision on simulated times: no clock here, so every count is the same each time. */
#include "unit.h"

#include "measure/measure.h"

#include <math.h>

/* Times of one work as a shared machine gives them: a common drift, noise of each sample, and now
 * and then a sample that was interrupted. */
struct noise {
    double drift, spread, interrupted;
};

static const struct noise quiet = {0.05, 0.01, 0.02}, rough = {0.2, 0.03, 0.1},
                          wild = {0.3, 0.2, 0.2};

static double
draw_time(struct rng *rng, const struct noise *noise, double drift)
{
    double time = exp(drift + noise->spread * rng_normal(rng));
    return rng_uniform(rng) < noise->interrupted ? time * (1 + 2 * rng_uniform(rng)) : time;
}

/* One comparison of works whose true ratio is `ratio`. */
static struct measure_outcome
simulate(struct arena *arena, struct rng *rng, const struct noise *noise, double ratio)
{
    struct measure_decision *decision = measure_decision_create(arena, &measure_usual_rule);
    for (double drift = 0; measure_decision_asks(decision);) {
        drift = 0.9 * drift + noise->drift * 0.4 * rng_normal(rng);
        double incumbent = draw_time(rng, noise, drift);
        measure_decision_tell(decision, incumbent, ratio * draw_time(rng, noise, drift), false);
    }
    return measure_decision_outcome(decision);
}

static void
simulate_many(void **state, const struct noise *noise, double ratio, unsigned trials,
              unsigned counts[MEASURE_VERDICT_COUNT], double *rounds)
{
    struct unit *unit = *state;
    struct rng rng = rng_stream(5, "comparisons");
    memset(counts, 0, MEASURE_VERDICT_COUNT * sizeof *counts);
    *rounds = 0;
    for (unsigned i = 0; i < trials; i++) {
        struct measure_outcome outcome = simulate(unit->arena, &rng, noise, ratio);
        counts[outcome.verdict]++;
        *rounds += (double)outcome.rounds / trials;
    }
}

/* At most 2 in 100 where the noise is small beside the margin; where it is large the margin does
 * not help, and the rule's own 5 in 100 are the limit. */
static void
the_same_is_hardly_ever_called_different(void **state)
{
    const struct noise *noises[] = {&quiet, &rough, &wild};
    const unsigned least_equal[] = {395, 200, 0}; /* the others are ties */
    const unsigned most_wrong[] = {8, 8, 20};
    for (unsigned i = 0; i < 3; i++) {
        unsigned counts[MEASURE_VERDICT_COUNT];
        double rounds;
        simulate_many(state, noises[i], 1, 400, counts, &rounds);
        assert_true(counts[MEASURE_FASTER] + counts[MEASURE_SLOWER] <= most_wrong[i]);
        assert_true(counts[MEASURE_EQUAL] >= least_equal[i]);
    }
}

static void
two_per_cent_are_found(void **state)
{
    unsigned counts[MEASURE_VERDICT_COUNT];
    double rounds;
    simulate_many(state, &quiet, 1.02, 300, counts, &rounds);
    assert_int_equal(counts[MEASURE_SLOWER], 300);
    assert_true(rounds < 64);
    simulate_many(state, &quiet, 1 / 1.02, 300, counts, &rounds);
    assert_int_equal(counts[MEASURE_FASTER], 300);
    simulate_many(state, &rough, 1.02, 300, counts, &rounds);
    assert_true(counts[MEASURE_SLOWER] >= 285);
    assert_int_equal(counts[MEASURE_FASTER], 0);
}

static void
what_cannot_be_told_is_a_tie_with_its_interval(void **state)
{
    struct unit *unit = *state;
    struct rng rng = rng_stream(6, "tie");
    struct measure_outcome outcome = simulate(unit->arena, &rng, &wild, 1.005);
    assert_int_equal(outcome.verdict, MEASURE_TIE);
    assert_int_equal(outcome.rounds, 512);
    assert_true(outcome.low < outcome.ratio && outcome.ratio < outcome.high);
    assert_true(outcome.low < 1.0025 && outcome.high > 0.9975);
}

/* Looks are at powers of two only, and rounds after a decision change nothing. */
static void
it_looks_when_it_should(void **state)
{
    struct unit *unit = *state;
    struct measure_decision *decision = measure_decision_create(unit->arena, &measure_usual_rule);
    for (unsigned round = 1; round <= 16; round++) {
        assert_true(measure_decision_asks(decision));
        assert_true(isnan(measure_decision_outcome(decision).ratio));
        measure_decision_tell(decision, 100, 103, false);
    }
    struct measure_outcome outcome = measure_decision_outcome(decision);
    assert_int_equal(outcome.verdict, MEASURE_SLOWER);
    assert_int_equal(outcome.rounds, 16);
    assert_true(fabs(outcome.ratio - 1.03) < 1e-12 && fabs(outcome.low - 1.03) < 1e-12);
    assert_false(measure_decision_asks(decision));
    measure_decision_tell(decision, 100, 50, false);
    measure_decision_tell(decision, 100, 50, true);
    struct measure_outcome later = measure_decision_outcome(decision);
    assert_memory_equal(&later, &outcome, sizeof outcome);
}

/* All rounds alike: the verdict by the size of the difference. */
static void
margins_are_where_they_are_said_to_be(void **state)
{
    const struct {
        double log_ratio;
        enum measure_verdict verdict;
    } cases[] = {
        {0, MEASURE_EQUAL},        {0.0024, MEASURE_EQUAL},  {0.0026, MEASURE_SLOWER},
        {-0.0026, MEASURE_FASTER}, {-0.0024, MEASURE_EQUAL}, {0.5, MEASURE_SLOWER},
    };
    struct unit *unit = *state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct measure_decision *decision =
            measure_decision_create(unit->arena, &measure_usual_rule);
        while (measure_decision_asks(decision))
            measure_decision_tell(decision, 1, exp(cases[i].log_ratio), false);
        assert_int_equal(measure_decision_outcome(decision).verdict, cases[i].verdict);
        assert_int_equal(measure_decision_outcome(decision).rounds, 16);
    }
}

/* Half of the rounds at +0.9 %, half at -0.9 %: equal; at +-2 %: never more than a tie. */
static void
the_interval_decides_and_not_the_middle(void **state)
{
    struct unit *unit = *state;
    for (unsigned wide = 0; wide < 2; wide++) {
        double size = wide ? 0.02 : 0.009;
        struct measure_decision *decision =
            measure_decision_create(unit->arena, &measure_usual_rule);
        for (unsigned i = 0; measure_decision_asks(decision); i++)
            measure_decision_tell(decision, 1, exp(i % 2 ? size : -size), false);
        struct measure_outcome outcome = measure_decision_outcome(decision);
        assert_int_equal(outcome.verdict, wide ? MEASURE_TIE : MEASURE_EQUAL);
        assert_int_equal(outcome.rounds, wide ? 512 : 16);
    }
}

static void
disturbed_rounds_are_repeated_and_counted(void **state)
{
    struct unit *unit = *state;
    struct measure_decision *decision = measure_decision_create(unit->arena, &measure_usual_rule);
    for (unsigned i = 0; measure_decision_asks(decision); i++)
        measure_decision_tell(decision, 1, i % 5 ? 1.03 : 0.1, i % 5 == 0);
    struct measure_outcome outcome = measure_decision_outcome(decision);
    assert_int_equal(outcome.verdict, MEASURE_SLOWER);
    assert_int_equal(outcome.rounds, 16);
    assert_int_equal(outcome.disturbed, 4);
}

static void
too_many_of_them_end_it(void **state)
{
    struct unit *unit = *state;
    struct measure_decision *decision = measure_decision_create(unit->arena, &measure_usual_rule);
    unsigned rounds = 0;
    for (; measure_decision_asks(decision); rounds++)
        measure_decision_tell(decision, 1, 1, true);
    assert_int_equal(measure_decision_outcome(decision).verdict, MEASURE_NOISY);
    assert_int_equal(rounds, 10); /* above 30 % of twice the first look */
    assert_string_equal(measure_verdict_name[MEASURE_NOISY], "noisy");
}

/* A difference that no disturbance explains is one on a busy machine too. */
static void
great_differences_are_seen_all_the_same(void **state)
{
    struct unit *unit = *state;
    static const struct {
        double candidate;
        enum measure_verdict verdict;
    } trials[] = {{50, MEASURE_SLOWER}, {0.02, MEASURE_FASTER}, {3, MEASURE_NOISY}};
    for (size_t t = 0; t < 3; t++) {
        struct measure_decision *decision =
            measure_decision_create(unit->arena, &measure_usual_rule);
        while (measure_decision_asks(decision))
            measure_decision_tell(decision, 1, trials[t].candidate, true);
        struct measure_outcome outcome = measure_decision_outcome(decision);
        assert_int_equal(outcome.verdict, trials[t].verdict);
        if (trials[t].verdict != MEASURE_NOISY)
            assert_true(fabs(outcome.ratio / trials[t].candidate - 1) < 1e-9);
    }
}

/* The order is random, balanced, and the same for the same seed. */
static void
the_order_is_drawn(void **state)
{
    struct unit *unit = *state;
    struct measure_rule other = measure_usual_rule;
    other.seed = 1;
    struct measure_decision *a = measure_decision_create(unit->arena, &measure_usual_rule);
    struct measure_decision *b = measure_decision_create(unit->arena, &measure_usual_rule);
    struct measure_decision *c = measure_decision_create(unit->arena, &other);
    unsigned first = 0, same = 0;
    for (unsigned i = 0; i < 512; i++) {
        bool order = measure_decision_candidate_first(a);
        assert_int_equal(order, measure_decision_candidate_first(b));
        first += order;
        same += order == measure_decision_candidate_first(c);
        double ratio = exp(i % 2 ? 0.02 : -0.02);
        measure_decision_tell(a, 1, ratio, false);
        measure_decision_tell(b, 1, ratio, false);
        measure_decision_tell(c, 1, ratio, false);
    }
    assert_true(first > 200 && first < 312 && same > 200 && same < 312);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(the_same_is_hardly_ever_called_different),
        UNIT_TEST(two_per_cent_are_found),
        UNIT_TEST(what_cannot_be_told_is_a_tie_with_its_interval),
        UNIT_TEST(it_looks_when_it_should),
        UNIT_TEST(margins_are_where_they_are_said_to_be),
        UNIT_TEST(the_interval_decides_and_not_the_middle),
        UNIT_TEST(disturbed_rounds_are_repeated_and_counted),
        UNIT_TEST(too_many_of_them_end_it),
        UNIT_TEST(great_differences_are_seen_all_the_same),
        UNIT_TEST(the_order_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
