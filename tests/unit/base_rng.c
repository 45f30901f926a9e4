#include "base/rng.h"
#include "base/rng_int.h"
#include "unit.h"

#include <math.h>

/* The known answers of Random123's kat_vectors for philox4x32 with 10 rounds. */
static void
blocks_are_the_published_ones(void **state)
{
    static const struct {
        uint32_t counter[4], key[2], block[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t block[4];

        rng__philox(known[i].counter, known[i].key, block);
        assert_memory_equal(block, known[i].block, sizeof block);
    }
}

static void
a_value_depends_on_seed_name_and_number_alone(void **state)
{
    struct rng a = rng_stream(5, "X"), again = rng_stream(5, "X");
    struct rng seed = rng_stream(6, "X"), name = rng_stream(5, "Y"), empty = rng_stream(5, "");

    (void)state;
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t value = rng_next(&a);

        assert_true(value == rng_at(&again, i));
        assert_true(value != rng_at(&seed, i) && value != rng_at(&name, i));
        assert_true(value != rng_at(&empty, i));
    }
    assert_int_equal(a.count, 100);
    assert_int_equal(again.count, 0);
}

/* A recorded seed must give the same inputs for ever: these are not to change. */
static void
streams_are_frozen(void **state)
{
    struct rng zero = {.key = {0, 0}};
    struct rng stream = rng_stream(42, "inputs");

    (void)state;
    assert_true(rng_at(&zero, 0) == 0xe169c58d6627e8d5);
    assert_true(rng_at(&stream, 0) == 0x2d83a07f639aa0b8);
    assert_true(rng_at(&stream, UINT64_C(1) << 40) == 0x683bf2f9d756a243);
}

static void
below_is_within_bounds_and_even(void **state)
{
    struct rng rng = rng_stream(1, "below");
    int seen[7] = {0};

    (void)state;
    for (int i = 0; i < 70000; i++)
        seen[rng_below(&rng, 7)]++;
    for (int i = 0; i < 7; i++)
        assert_in_range(seen[i], 9600, 10400); /* 4 deviations of 93 */
    for (int i = 0; i < 100; i++) {
        assert_int_equal(rng_below(&rng, 1), 0);
        assert_true(rng_below(&rng, UINT64_MAX) < UINT64_MAX);
        assert_true(rng_below(&rng, (UINT64_C(1) << 63) + 1) <= UINT64_C(1) << 63);
    }
}

/* With this bound every third value would come twice as often, did not one draw in four have to be
 * repeated. */
static void
below_has_no_bias(void **state)
{
    const uint64_t bound = UINT64_C(3) << 62;
    struct rng rng = rng_stream(2, "bias");
    int thirds[3] = {0};

    (void)state;
    for (int i = 0; i < 30000; i++)
        thirds[rng_below(&rng, bound) % 3]++;
    for (int i = 0; i < 3; i++)
        assert_in_range(thirds[i], 9670, 10330);
    assert_in_range(rng.count, 39000, 41000);
}

static void
uniform_fills_the_unit_interval(void **state)
{
    struct rng rng = rng_stream(3, "uniform");
    double sum = 0, least = 1, most = 0;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        double value = rng_uniform(&rng);

        assert_true(value >= 0 && value < 1);
        sum += value;
        least = fmin(least, value);
        most = fmax(most, value);
    }
    assert_true(fabs(sum / 100000 - 0.5) < 0.004);
    assert_true(least < 0.001 && most > 0.999);
}

static void
normal_has_its_moments(void **state)
{
    struct rng rng = rng_stream(4, "normal");
    double moments[5] = {0};

    (void)state;
    for (int i = 0; i < 200000; i++) {
        double value = rng_normal(&rng), power = 1;

        assert_true(isfinite(value));
        for (int m = 1; m < 5; m++)
            moments[m] += (power *= value) / 200000;
    }
    assert_true(fabs(moments[1]) < 0.01);
    assert_true(fabs(moments[2] - 1) < 0.015);
    assert_true(fabs(moments[3]) < 0.04);
    assert_true(fabs(moments[4] - 3) < 0.1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_the_published_ones),
        cmocka_unit_test(a_value_depends_on_seed_name_and_number_alone),
        cmocka_unit_test(streams_are_frozen),
        cmocka_unit_test(below_is_within_bounds_and_even),
        cmocka_unit_test(below_has_no_bias),
        cmocka_unit_test(uniform_fills_the_unit_interval),
        cmocka_unit_test(normal_has_its_moments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
