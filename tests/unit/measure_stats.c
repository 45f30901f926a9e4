/* Intervals of a median against sums by hand and by brute force; summaries. */
#include "unit.h"

#include "base/rng.h"
#include "measure/measure.h"

#include <math.h>

/* P(fewer than `rank` + 1 of n coins show heads), by counting all 2^n outcomes. */
static double
tail_by_counting(unsigned n, size_t most)
{
    unsigned long outcomes = 0;
    for (unsigned long coins = 0; coins < 1ul << n; coins++)
        outcomes += (size_t)__builtin_popcountl(coins) <= most;
    return (double)outcomes / (double)(1ul << n);
}

/* The widest cut at each end whose tail is within alpha/2. */
static void
intervals_equal_brute_force(void **state)
{
    const double alphas[] = {0.05, 0.05 / 6, 0.2, 0.001};
    (void)state;
    for (unsigned n = 1; n <= 18; n++)
        for (unsigned a = 0; a < 4; a++) {
            size_t cut = 0, low = 99, high = 99;
            while (2 * cut < n && tail_by_counting(n, cut) <= alphas[a] / 2)
                cut++;
            bool found = measure_median_ranks(n, alphas[a], &low, &high);
            assert_int_equal(found, cut > 0 && 2 * cut <= n);
            if (found) {
                assert_int_equal(low, cut - 1);
                assert_int_equal(high, n - cut);
            }
        }
}

/* From tables of the sign test, and of the looks. */
static void
intervals_equal_known_ones(void **state)
{
    const struct {
        size_t count;
        double alpha;
        size_t low, high;
    } known[] = {
        {6, 0.05, 0, 5},       {10, 0.05, 1, 8},       {20, 0.05, 5, 14},
        {50, 0.05, 17, 32},    {100, 0.05, 39, 60},    {16, 0.05 / 6, 2, 13},
        {32, 0.05 / 6, 8, 23}, {64, 0.05 / 6, 21, 42}, {512, 0.05 / 6, 225, 286},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t low, high;
        assert_true(measure_median_ranks(known[i].count, known[i].alpha, &low, &high));
        assert_int_equal(low, known[i].low);
        assert_int_equal(high, known[i].high);
    }
    size_t low, high;
    assert_false(measure_median_ranks(5, 0.05, &low, &high));
    assert_false(measure_median_ranks(0, 0.05, &low, &high));
}

/* Beyond 1074 values 2^-n is no double; the normal approximation says where the ranks must be. */
static void
large_samples_have_intervals(void **state)
{
    (void)state;
    for (size_t n = 1000; n <= 1000000; n *= 10) {
        size_t low, high;
        assert_true(measure_median_ranks(n, 0.05, &low, &high));
        assert_int_equal(low + high, n - 1);
        double expected = (double)n / 2 - 1.959964 * sqrt((double)n) / 2;
        assert_true(fabs((double)low - expected) < 2);
    }
}

static void
intervals_hold_the_median_as_often_as_they_say(void **state)
{
    enum { TRIALS = 2000, COUNT = 25 };
    struct rng rng = rng_stream(11, "coverage");
    unsigned held = 0;
    (void)state;
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        double values[COUNT];
        for (unsigned i = 0; i < COUNT; i++)
            values[i] = exp(3 * rng_normal(&rng)); /* skewed; its median is 1 */
        struct measure_summary summary = measure_summarise(values, COUNT);
        held += summary.low <= 1 && summary.high >= 1;
    }
    assert_true(held >= 0.95 * TRIALS - 30 && held <= 0.985 * TRIALS);
}

static void
a_sample_is_summed_up(void **state)
{
    double values[] = {5, 1, 4, 2, 3, 11, 9, 8, 10, 7, 6};
    struct measure_summary s = measure_summarise(values, 11);
    (void)state;
    assert_int_equal(s.count, 11);
    assert_true(s.min == 1 && s.p10 == 2 && s.median == 6 && s.p90 == 10);
    assert_true(s.low == 2 && s.high == 10); /* 1 + 11 of 2048 below 2.5 %, 67 of 2048 above */
    for (unsigned i = 0; i < 11; i++)
        assert_true(values[i] == i + 1);
}

static void
few_values_have_wide_intervals(void **state)
{
    double one[] = {3}, two[] = {4, 2};
    struct measure_summary s = measure_summarise(one, 1);
    (void)state;
    assert_true(s.min == 3 && s.p10 == 3 && s.median == 3 && s.p90 == 3);
    assert_true(s.low == 3 && s.high == 3);
    s = measure_summarise(two, 2);
    assert_true(s.median == 3 && s.low == 2 && s.high == 4);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_equal_brute_force),
        cmocka_unit_test(intervals_equal_known_ones),
        cmocka_unit_test(large_samples_have_intervals),
        cmocka_unit_test(intervals_hold_the_median_as_often_as_they_say),
        cmocka_unit_test(a_sample_is_summed_up),
        cmocka_unit_test(few_values_have_wide_intervals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
