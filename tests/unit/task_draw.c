/* Drawn inputs lie in their domains, look like their distribution, and can be drawn again. */
#include "unit.h"

#include "base/rng.h"
#include "task/pass_int.h"

#include <math.h>

/* A program that has one input and nothing else. */
struct case_of_one {
    struct program program;
    struct tensor tensor, *tensors[1];
    void **data;
};

static struct tensor
matrix(enum dtype dtype, int64_t rows, int64_t columns)
{
    return (struct tensor){.name = "X",
                           .dtype = dtype,
                           .rank = 2,
                           .size = {rows, columns},
                           .count = rows * columns,
                           .low = INT32_MIN,
                           .high = INT32_MAX};
}

static struct case_of_one *
draw(void **state, struct tensor tensor, enum distribution distribution, uint64_t seed)
{
    struct unit *unit = *state;
    struct case_of_one *one = arena_alloc(unit->arena, sizeof *one);
    one->tensor = tensor;
    one->tensors[0] = &one->tensor;
    one->program = (struct program){.tensors = one->tensors, .tensor_count = 1, .input_count = 1};
    one->data = task_draw_all(unit->arena, &one->program, distribution, seed);
    return one;
}

static double
at(const struct case_of_one *one, int64_t element)
{
    return dtype_element(one->tensor.dtype, one->data[0], element);
}

struct facts {
    double min, max, mean, deviation;
    int64_t infinite, nan;
};

static struct facts
look(const struct case_of_one *one)
{
    struct facts f = {.min = INFINITY, .max = -INFINITY};
    double squares = 0;
    for (int64_t i = 0; i < one->tensor.count; i++) {
        double v = at(one, i);
        f.nan += isnan(v);
        f.infinite += isinf(v) != 0;
        f.min = fmin(f.min, v);
        f.max = fmax(f.max, v);
        f.mean += v / (double)one->tensor.count;
        squares += v * v / (double)one->tensor.count;
    }
    f.deviation = sqrt(fmax(0, squares - f.mean * f.mean));
    return f;
}

static void
is_near(double got, double want, double off)
{
    if (!(fabs(got - want) <= off))
        fail_msg("%g is not within %g of %g", got, off, want);
}

static void
distributions_are_what_they_say(void **state)
{
    int64_t infinite = 0;
    struct tensor x = matrix(DTYPE_F32, 100, 100);
    struct facts f = look(draw(state, x, DRAW_NORMAL, 1));
    is_near(f.mean, 0, 0.05);
    is_near(f.deviation, 1, 0.05);
    f = look(draw(state, x, DRAW_UNIFORM, 1));
    assert_true(f.min >= 0 && f.max < 1);
    is_near(f.mean, 0.5, 0.02);
    f = look(draw(state, x, DRAW_HEAVY, 1));
    assert_true(f.max > 20 && f.max <= 1e4 && f.infinite == 0);
    is_near(look(draw(state, x, DRAW_SMALL, 1)).deviation, 0.01, 0.001);
    f = look(draw(state, x, DRAW_OFFSET, 1));
    is_near(f.mean, 10, 0.05);
    is_near(f.deviation, 1, 0.05);
    f = look(draw(state, x, DRAW_CONSTANT, 1));
    assert_true(f.min == f.max && f.min != 0);
    f = look(draw(state, x, DRAW_INTEGERS, 1));
    assert_true(f.min == -4 && f.max == 4);
    f = look(draw(state, x, DRAW_DENORMAL, 1));
    assert_true(f.min < 0 && f.max > 0 && f.max < 0x1p-126);
    for (uint64_t seed = 1; seed <= 20; seed++) { /* a few in some of them */
        f = look(draw(state, x, DRAW_INFINITE, seed));
        assert_true(f.infinite <= 2 && f.nan == 0);
        infinite += f.infinite;
    }
    assert_true(infinite > 10);
}

static void
a_ramp_rises(void **state)
{
    struct case_of_one *one = draw(state, matrix(DTYPE_F64, 7, 9), DRAW_RAMP, 1);
    for (int64_t i = 1; i < 63; i++)
        assert_true(at(one, i) > at(one, i - 1));
    is_near(at(one, 0), -1, 1e-12);
    is_near(at(one, 62), 1, 1e-12);
}

static void
seeds_repeat_and_differ(void **state)
{
    struct tensor x = matrix(DTYPE_F32, 16, 16);
    for (unsigned d = 0; d < DRAW_COUNT; d++) {
        struct case_of_one *a = draw(state, x, (enum distribution)d, 5);
        struct case_of_one *b = draw(state, x, (enum distribution)d, 5);
        struct case_of_one *c = draw(state, x, (enum distribution)d, 6);
        assert_memory_equal(a->data[0], b->data[0], 16 * 16 * 4);
        if (d != DRAW_RAMP)
            assert_memory_not_equal(a->data[0], c->data[0], 16 * 16 * 4);
        assert_int_equal((uintptr_t)a->data[0] % 64, 0);
    }
}

static void
intervals_hold_after_rounding(void **state)
{
    const double bounds[][2] = {{0.1, 0.7},    {0.001, 0.01}, {-3, -1.0 / 3}, {-1, 1},
                                {0, INFINITY}, {2, 2},        {-INFINITY, -1}};
    const enum dtype dtypes[] = {DTYPE_F64, DTYPE_F32, DTYPE_F16, DTYPE_BF16};
    for (unsigned b = 0; b < sizeof bounds / sizeof *bounds; b++)
        for (unsigned t = 0; t < 4; t++)
            for (unsigned d = 0; d < DRAW_COUNT; d++) {
                struct tensor x = matrix(dtypes[t], 20, 20);
                x.domain = (struct domain){
                    .form = DOMAIN_INTERVAL, .low = bounds[b][0], .high = bounds[b][1]};
                struct facts f = look(draw(state, x, (enum distribution)d, 3));
                if (f.nan > 0 || f.min < bounds[b][0] || f.max > bounds[b][1])
                    fail_msg("%s %s: %.17g..%.17g", dtype_info[dtypes[t]].name,
                             distribution_name[d], f.min, f.max);
            }
}

static void
an_interval_is_filled(void **state)
{
    struct tensor x = matrix(DTYPE_F32, 50, 50);
    x.domain = (struct domain){.form = DOMAIN_INTERVAL, .low = 2, .high = 3};
    struct facts f = look(draw(state, x, DRAW_NORMAL, 1));
    is_near(f.mean, 2.5, 0.02);
    assert_true(f.min < 2.1 && f.max > 2.9);
    f = look(draw(state, x, DRAW_SMALL, 1));
    assert_true(f.max < 2.02);
    f = look(draw(state, x, DRAW_OFFSET, 1));
    assert_true(f.min > 2.89);
}

static void
scale_is_the_deviation(void **state)
{
    struct tensor x = matrix(DTYPE_F32, 100, 100);
    x.domain = (struct domain){.form = DOMAIN_SCALE, .low = 0.125};
    is_near(look(draw(state, x, DRAW_NORMAL, 1)).deviation, 0.125, 0.01);
}

static void
among_gives_only_its_values(void **state)
{
    const double values[] = {-1, 0.5, 7};
    int64_t seen[3] = {0};
    struct tensor x = matrix(DTYPE_F32, 20, 20);
    x.domain = (struct domain){.form = DOMAIN_AMONG, .values = values, .count = 3};
    for (unsigned d = 0; d < DRAW_COUNT; d++) {
        struct case_of_one *one = draw(state, x, (enum distribution)d, 2);
        for (int64_t i = 0; i < 400; i++) {
            unsigned k = 0;
            while (k < 3 && values[k] != at(one, i))
                k++;
            assert_true(k < 3);
            seen[k]++;
        }
    }
    assert_true(seen[0] > 0 && seen[1] > 0 && seen[2] > 0);
}

static void
softmax_rows_sum_to_one(void **state)
{
    const enum dtype dtypes[] = {DTYPE_F64, DTYPE_F32, DTYPE_BF16, DTYPE_F16};
    for (unsigned t = 0; t < 4; t++)
        for (unsigned d = 0; d < DRAW_COUNT; d++) {
            struct tensor x = matrix(dtypes[t], 8, 33);
            x.domain.form = DOMAIN_SOFTMAX;
            struct case_of_one *one = draw(state, x, (enum distribution)d, 4);
            for (int64_t r = 0; r < 8; r++) {
                double sum = 0;
                for (int64_t j = 0; j < 33; j++) {
                    assert_true(at(one, r * 33 + j) > 0);
                    sum += at(one, r * 33 + j);
                }
                is_near(sum, 1, 33 * dtype_info[dtypes[t]].roundoff);
            }
        }
}

static void
matrices_have_their_form(void **state)
{
    struct tensor x = matrix(DTYPE_F32, 9, 9);
    x.domain.form = DOMAIN_LOWER;
    struct case_of_one *lower = draw(state, x, DRAW_NORMAL, 4);
    x.domain.form = DOMAIN_UPPER;
    struct case_of_one *upper = draw(state, x, DRAW_NORMAL, 4);
    x.domain.form = DOMAIN_SYMMETRIC;
    struct case_of_one *symmetric = draw(state, x, DRAW_NORMAL, 4);
    for (int64_t i = 0; i < 9; i++)
        for (int64_t j = 0; j < 9; j++) {
            assert_true((at(lower, i * 9 + j) != 0) == (j <= i));
            assert_true((at(upper, i * 9 + j) != 0) == (j >= i));
            assert_true(at(symmetric, i * 9 + j) == at(symmetric, j * 9 + i));
        }
}

static void
integers_have_their_defaults(void **state)
{
    struct tensor x = matrix(DTYPE_I32, 100, 100);
    struct facts f = look(draw(state, x, DRAW_NORMAL, 1));
    assert_true(f.min == -100 && f.max == 100);
    x.low = 0, x.high = 6; /* a subscript */
    for (unsigned d = 0; d < DRAW_COUNT; d++) {
        f = look(draw(state, x, (enum distribution)d, 1));
        assert_true(f.min >= 0 && f.max <= 6);
    }
    f = look(draw(state, x, DRAW_UNIFORM, 1));
    assert_true(f.min == 0 && f.max == 6);
    x.domain = (struct domain){.form = DOMAIN_INTERVAL, .low = 3, .high = 5};
    f = look(draw(state, x, DRAW_NORMAL, 1));
    assert_true(f.min == 3 && f.max == 5);
    x = matrix(DTYPE_I8, 100, 100);
    x.low = -128, x.high = 127;
    f = look(draw(state, x, DRAW_NORMAL, 1));
    assert_true(f.min == -128 && f.max == 127);
    x = matrix(DTYPE_U8, 100, 100);
    f = look(draw(state, x, DRAW_NORMAL, 1));
    assert_true(f.min == 0 && f.max == 255);
    x = matrix(DTYPE_BOOL, 10, 10);
    f = look(draw(state, x, DRAW_NORMAL, 1));
    assert_true(f.min == 0 && f.max == 1);
}

static void
mixed_rows_differ_and_are_finite(void **state)
{
    struct case_of_one *one = draw(state, matrix(DTYPE_F32, 200, 8), DRAW_MIXED, 1);
    int64_t integers = 0, denormals = 0, constants = 0;
    assert_int_equal(look(one).infinite, 0);
    for (int64_t r = 0; r < 200; r++) {
        const float *row = (const float *)one->data[0] + r * 8;
        integers += row[0] == rintf(row[0]) && row[1] == rintf(row[1]) && row[5] == rintf(row[5]);
        denormals += fabsf(row[3]) < 0x1p-126F && row[3] != 0;
        constants += row[0] == row[7] && row[0] == row[3] && row[0] != rintf(row[0]);
    }
    assert_true(integers > 5 && denormals > 5 && constants > 5);
}

static void
denormals_are_found(void **state)
{
    const enum dtype dtypes[] = {DTYPE_F64, DTYPE_F32, DTYPE_F16, DTYPE_BF16};
    for (unsigned t = 0; t < 4; t++) {
        struct tensor x = matrix(dtypes[t], 4, 4);
        struct case_of_one *with = draw(state, x, DRAW_DENORMAL, 1);
        struct case_of_one *without = draw(state, x, DRAW_INTEGERS, 1);
        assert_true(task_has_denormals(&with->program, (const void *const *)with->data));
        assert_false(task_has_denormals(&without->program, (const void *const *)without->data));
    }
}

static void
a_scalar_has_one_element(void **state)
{
    struct tensor x = matrix(DTYPE_F32, 1, 1);
    x.rank = 0;
    for (unsigned d = 0; d < DRAW_COUNT; d++)
        assert_false(isnan(at(draw(state, x, (enum distribution)d, 1), 0)));
}

/* ---- many at a time ---- */

/* Numbers are those of base/rng.h, whoever makes them: recorded seeds must go on meaning the same.
 */
static void
vectors_draw_what_the_stream_has(void **state)
{
    const struct passes *passes[] = {&pass__plain, pass_here()};
    (void)state;
    for (int p = 0; p < 2; p++)
        for (uint64_t first = UINT32_MAX - 200; first < (uint64_t)UINT32_MAX + 200; first += 97) {
            struct rng rng = rng_stream(first, "test");
            uint64_t draws[DRAWS];
            passes[p]->draw(rng.key, first, draws);
            for (uint64_t i = 0; i < DRAWS; i++)
                assert_true(draws[i] == rng_at(&rng, first + i));
        }
}

static void
vectors_bracket_normal_numbers(void **state)
{
    const struct passes *passes[] = {&pass__plain, pass_here()};
    const struct fit fit = {.factor = 1, .offset = 0, .scale = 1};
    struct rng rng = rng_stream(5, "test");
    int same = 0;
    (void)state;
    for (int n = 0; n < 2000; n++) {
        float low[NORMALS], high[NORMALS];
        uint64_t first = rng.count;
        const struct passes *pass = passes[n % 2];
        same += pass->normals(rng.key, first, &fit, low, high);
        for (int i = 0; i < NORMALS; i++) {
            float z = (float)rng_normal(&rng);
            assert_true(low[i] <= z && z <= high[i]);
        }
    }
    assert_in_range(same, 1900, 2000);
}

static void
large_inputs_are_the_stream_too(void **state)
{
    static const struct {
        enum distribution distribution;
        double factor, offset;
    } rows[] = {{DRAW_NORMAL, 1, 0}, {DRAW_SMALL, 0.01, 0}, {DRAW_OFFSET, 1, 10}};
    for (size_t r = 0; r < 3; r++) {
        struct tensor tensor = matrix(DTYPE_F32, 331, 307);
        tensor.domain = (struct domain){.form = DOMAIN_SCALE, .low = 0.37};
        struct case_of_one *one = draw(state, tensor, rows[r].distribution, 3);
        char name[64];
        snprintf(name, sizeof name, "input 0 %s", distribution_name[rows[r].distribution]);
        struct rng rng = rng_stream(3, name);
        rng_uniform(&rng);
        rng_normal(&rng);
        for (int64_t i = 0; i < one->tensor.count; i++) {
            double value = rows[r].offset + rows[r].factor * rng_normal(&rng);
            assert_true(at(one, i) == (double)(float)(value * 0.37));
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(distributions_are_what_they_say),
        UNIT_TEST(a_ramp_rises),
        UNIT_TEST(seeds_repeat_and_differ),
        UNIT_TEST(intervals_hold_after_rounding),
        UNIT_TEST(an_interval_is_filled),
        UNIT_TEST(scale_is_the_deviation),
        UNIT_TEST(among_gives_only_its_values),
        UNIT_TEST(softmax_rows_sum_to_one),
        UNIT_TEST(matrices_have_their_form),
        UNIT_TEST(integers_have_their_defaults),
        UNIT_TEST(mixed_rows_differ_and_are_finite),
        UNIT_TEST(denormals_are_found),
        UNIT_TEST(a_scalar_has_one_element),
        UNIT_TEST(vectors_draw_what_the_stream_has),
        UNIT_TEST(vectors_bracket_normal_numbers),
        UNIT_TEST(large_inputs_are_the_stream_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
