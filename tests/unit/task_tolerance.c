/* The gate and the comparison of outputs, on results made by hand. */
#include "unit.h"

#include "base/num.h"
#include "task/task.h"

#include <math.h>

enum { MOST = 8 };

struct bench { /* a result of up to MOST elements */
    struct tensor tensor;
    struct lang_result result;
    struct tolerance tolerance;
    double v[MOST], g[MOST], c[MOST];
    double term_v[MOST], term_g[MOST], term_c[MOST];
};

static void
prepare(struct bench *bench, enum dtype dtype, int64_t count)
{
    memset(bench, 0, sizeof *bench);
    bench->tensor = (struct tensor){.name = "Y", .dtype = dtype, .rank = 1, .count = count};
    bench->result =
        (struct lang_result){.tensor = &bench->tensor, .v = bench->v, .g = bench->g, .c = bench->c};
    bench->tolerance = (struct tolerance){.k = 1, .scale = 1};
}

static void
set(struct bench *bench, int64_t at, double v, double g, double c)
{
    bench->v[at] = v;
    bench->g[at] = g;
    bench->c[at] = c;
}

static struct comparison
compare(struct bench *bench, const void *got)
{
    struct comparison comparison;

    task_compare(&bench->result, &bench->tolerance, got, &comparison);
    return comparison;
}

static double
gate(struct bench *bench, int64_t at)
{
    return task_gate(&bench->result, &bench->tolerance, at);
}

static void
gates_are_the_smaller_of_two(void **state)
{
    struct bench b;

    (void)state;
    prepare(&b, DTYPE_F32, 3);
    set(&b, 0, 1, 1e-6, 1);
    set(&b, 1, 1, 1, 1e-6);
    set(&b, 2, 1, 0, 0);
    assert_true(gate(&b, 0) == 6 * 1e-6 + 0x1p-126);
    assert_true(gate(&b, 1) == 2 * 1e-6 + 0x1p-126);
    assert_true(gate(&b, 2) == 0x1p-126);
    b.tolerance = (struct tolerance){.k = 3, .scale = 0.5};
    assert_true(gate(&b, 0) == 6 * 3.0 * 1e-6 * 0.5 + 0x1p-126);
    assert_true(gate(&b, 1) == 2 * 1e-6 * 0.5 + 0x1p-126);
    b.result.g = b.result.c = NULL; /* zero everywhere */
    assert_true(gate(&b, 0) == 0x1p-126);
}

static void
unjudged_elements_have_no_gate(void **state)
{
    struct bench b;

    (void)state;
    prepare(&b, DTYPE_F32, 2);
    set(&b, 0, 1, NAN, INFINITY);
    set(&b, 1, 1, INFINITY, INFINITY);
    assert_true(isnan(gate(&b, 0)));
    assert_true(isnan(gate(&b, 1)));
}

static void
gates_of_doubles_are_doubled(void **state)
{
    struct bench b;

    (void)state;
    prepare(&b, DTYPE_F64, 1);
    set(&b, 0, 1, 1e-15, 1);
    assert_true(gate(&b, 0) == 12 * 1e-15 + 0x1p-1022);
}

static void
gates_of_integers_are_whole(void **state)
{
    struct bench b;

    (void)state;
    prepare(&b, DTYPE_I8, 3);
    set(&b, 0, 5, 1.0 / 6, 1);
    set(&b, 1, 5, 1.9 / 6, 2);
    set(&b, 2, 5, 0, 0);
    assert_true(gate(&b, 0) == 1);
    assert_true(gate(&b, 1) == 1);
    assert_true(gate(&b, 2) == 0);
    assert_int_equal(compare(&b, (const int8_t[]){4, 6, 5}).wrong, 0);
    assert_int_equal(compare(&b, (const int8_t[]){4, 6, 6}).first_wrong, 2);
    assert_int_equal(compare(&b, (const int8_t[]){7, 6, 5}).first_wrong, 0);
}

static void
every_element_is_compared(void **state)
{
    const float right[] = {1, 2, 3, 4};
    float got[] = {1, 2 + 1e-5F, 3, 4.5F};
    struct comparison comparison;
    struct bench b;

    (void)state;
    prepare(&b, DTYPE_F32, 4);
    for (int64_t i = 0; i < 4; i++)
        set(&b, i, (double)i + 1, 1e-6, 1);
    comparison = compare(&b, right);
    assert_true(comparison.wrong == 0 && comparison.first_wrong == -1 && comparison.worst == 0);
    comparison = compare(&b, got);
    assert_int_equal(comparison.wrong, 2);
    assert_int_equal(comparison.first_wrong, 1);
    assert_true(fabs(comparison.worst - 0.5 / 6e-6) < 1);
    b.g[3] = NAN;
    comparison = compare(&b, got);
    assert_true(comparison.wrong == 1 && comparison.unjudged == 1);
    assert_true(comparison.worst > 1 && comparison.worst < 2);
}

static void
nan_and_infinity_match_their_like(void **state)
{
    struct bench b;

    (void)state;
    prepare(&b, DTYPE_F32, 4);
    set(&b, 0, NAN, 0, 0);
    set(&b, 1, INFINITY, 0, 0);
    set(&b, 2, -INFINITY, 0, 0);
    set(&b, 3, 1, 1e-6, 1);
    assert_int_equal(compare(&b, (const float[]){-NAN, INFINITY, -INFINITY, 1}).wrong, 0);
    assert_int_equal(compare(&b, (const float[]){0, INFINITY, -INFINITY, 1}).first_wrong, 0);
    assert_int_equal(compare(&b, (const float[]){NAN, -INFINITY, INFINITY, 1}).wrong, 2);
    assert_int_equal(compare(&b, (const float[]){NAN, 3e38F, NAN, 1}).wrong, 2);
    assert_int_equal(compare(&b, (const float[]){NAN, INFINITY, -INFINITY, NAN}).first_wrong, 3);
    assert_true(isinf(compare(&b, (const float[]){NAN, INFINITY, -INFINITY, INFINITY}).worst));
}

static void
prepare_race(struct bench *b, const double *terms, double g)
{
    prepare(b, DTYPE_I32, 1);
    b->result.terms = 4;
    b->result.term_v = b->term_v;
    b->result.term_g = b->term_g;
    b->result.term_c = b->term_c;
    for (int64_t k = 0; k < 4; k++) {
        b->term_v[k] = terms[k];
        b->term_g[k] = isnan(terms[k]) ? 0 : g;
        b->term_c[k] = isnan(terms[k]) ? 0 : INFINITY;
    }
    set(b, 0, 1, g > 0 ? NAN : 0, 0); /* term 1 wins */
}

static void
argmax_is_right_among_near_winners(void **state)
{
    const double terms[] = {1, 3, 3 - 1e-6, NAN};
    struct bench b;

    (void)state;
    prepare_race(&b, terms, 1e-6);
    assert_int_equal(compare(&b, (const int32_t[]){1}).wrong, 0);
    assert_int_equal(compare(&b, (const int32_t[]){2}).wrong, 0);
    assert_int_equal(compare(&b, (const int32_t[]){0}).wrong, 1);
    assert_int_equal(compare(&b, (const int32_t[]){3}).wrong, 1); /* dropped by the filter */
    assert_int_equal(compare(&b, (const int32_t[]){4}).wrong, 1);
    assert_int_equal(compare(&b, (const int32_t[]){-1}).wrong, 1);
    b.term_g[0] = NAN; /* an unjudged term might be the winner */
    assert_int_equal(compare(&b, (const int32_t[]){0}).unjudged, 1);
}

static void
exact_ties_go_to_the_first(void **state)
{
    const double terms[] = {1, 3, 3, NAN};
    struct bench b;

    (void)state;
    prepare_race(&b, terms, 0);
    assert_int_equal(compare(&b, (const int32_t[]){1}).wrong, 0);
    assert_int_equal(compare(&b, (const int32_t[]){2}).wrong, 1);
    b.v[0] = -1; /* no terms at all */
    assert_int_equal(compare(&b, (const int32_t[]){-1}).wrong, 0);
    assert_int_equal(compare(&b, (const int32_t[]){0}).wrong, 1);
}

static void
elements_of_every_dtype(void **state)
{
    static const struct {
        enum dtype dtype;
        double put, read;
    } cases[] = {
        {DTYPE_F64, 0.1, 0.1},        {DTYPE_F32, 0.1, (double)0.1F}, {DTYPE_F16, 1e6, INFINITY},
        {DTYPE_F16, 2049, 2048},      {DTYPE_BF16, 257, 256},         {DTYPE_BF16, -0.5, -0.5},
        {DTYPE_I32, 0x1p31, -0x1p31}, {DTYPE_I32, -7.9, -7},          {DTYPE_I8, 200, -56},
        {DTYPE_U8, -1, 255},          {DTYPE_BOOL, 0.5, 1},           {DTYPE_I32, NAN, 0},
    };
    double room[2];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dtype_set_element(cases[i].dtype, room, 1, cases[i].put);
        assert_true(dtype_element(cases[i].dtype, room, 1) == cases[i].read);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gates_are_the_smaller_of_two),
        cmocka_unit_test(unjudged_elements_have_no_gate),
        cmocka_unit_test(gates_of_doubles_are_doubled),
        cmocka_unit_test(gates_of_integers_are_whole),
        cmocka_unit_test(every_element_is_compared),
        cmocka_unit_test(nan_and_infinity_match_their_like),
        cmocka_unit_test(argmax_is_right_among_near_winners),
        cmocka_unit_test(exact_ties_go_to_the_first),
        cmocka_unit_test(elements_of_every_dtype),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
