/* The gate and the comparison of outputs, on results made by hand. */
#include "unit.h"

#include "base/num.h"
#include "base/rng.h"
#include "task/pass_int.h"

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
    assert_true(gate(&b, 0) == 6 * 1e-6 + 0x1p-125);
    assert_true(gate(&b, 1) == 2 * 1e-6 + 0x1p-125);
    assert_true(gate(&b, 2) == 0x1p-125);
    b.tolerance = (struct tolerance){.k = 3, .scale = 0.5};
    assert_true(gate(&b, 0) == 6 * 3.0 * 1e-6 * 0.5 + 0x1p-125);
    assert_true(gate(&b, 1) == 2 * 1e-6 * 0.5 + 0x1p-125);
    b.result.g = b.result.c = NULL; /* zero everywhere */
    assert_true(gate(&b, 0) == 0x1p-125);
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
    assert_true(gate(&b, 0) == 12 * 1e-15 + 0x1p-1021);
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

/* ---- many elements at a time ---- */

enum { MANY = 3 * BLOCK + 37 };

struct crowd { /* elements of all kinds beside a kernel's */
    struct tensor tensor;
    struct lang_result result;
    struct tolerance tolerance;
    double v[MANY], g[MANY], c[MANY], got[MANY]; /* got: in the dtype */
};

/* One of some numbers that need care, or an ordinary one. */
static double
some(struct rng *rng, double ordinary, int odd)
{
    static const double special[] = {NAN, INFINITY, 0, 1e300};
    uint64_t which = odd ? rng_below(rng, (uint64_t)odd) : 4;

    return which < 4 ? special[which] : ordinary;
}

/* odd: one number in so many needs care; 0: none. */
static void
fill_crowd(struct crowd *crowd, enum dtype dtype, int odd, double spread, struct rng *rng)
{
    crowd->tensor = (struct tensor){.name = "Y", .dtype = dtype, .rank = 1, .count = MANY};
    crowd->result =
        (struct lang_result){.tensor = &crowd->tensor, .v = crowd->v, .g = crowd->g, .c = crowd->c};
    crowd->tolerance = (struct tolerance){.k = 1 + rng_uniform(rng), .scale = rng_uniform(rng)};
    for (int64_t i = 0; i < MANY; i++) {
        double v = rng_normal(rng);
        crowd->v[i] = (i & 1 ? -1 : 1) * some(rng, v, odd);
        crowd->g[i] = some(rng, 1e-3 * fabs(v), odd);
        crowd->c[i] = some(rng, 2e-2 * rng_uniform(rng), odd);
        if (isnan(crowd->c[i])) /* saturates instead */
            crowd->c[i] = INFINITY;
        double got = crowd->v[i] + some(rng, spread * crowd->g[i] * rng_normal(rng), odd);
        if (i % 7 == 3) { /* what may have been flushed, or clamped */
            crowd->v[i] = crowd->g[i] = crowd->c[i] = 0;
            got = 0.3 * (double)(i % 9) * dtype_info[dtype].smallest;
        }
        dtype_set_element(dtype, crowd->got, i, got);
    }
}

/* The definition, element by element. */
static struct comparison
compare_plainly(const struct crowd *crowd)
{
    struct comparison all = {.first_wrong = -1};

    for (int64_t i = 0; i < MANY; i++) {
        struct error error = tolerance_error(&crowd->result, &crowd->tolerance, i,
                                             dtype_element(crowd->tensor.dtype, crowd->got, i));
        bool bad = error.size > error.gate;
        all.unjudged += isnan(error.gate);
        if (error.size > 0)
            all.worst = fmax(all.worst, error.size / error.gate);
        if (bad && all.wrong++ == 0)
            all.first_wrong = i;
    }
    return all;
}

static void
crowds_are_compared_as_single_ones(void **state)
{
    static const enum dtype dtypes[] = {DTYPE_F32, DTYPE_F64, DTYPE_F16, DTYPE_BF16};
    static const int odds[] = {0, 2000, 30};
    struct rng rng = rng_stream(1, "crowd");
    static struct crowd crowd;

    (void)state;
    for (size_t n = 0; n < 4 * 3 * 4; n++) {
        static const double spreads[] = {0, 1, 5, 100};
        fill_crowd(&crowd, dtypes[n % 4], odds[n / 4 % 3], spreads[n / 12], &rng);
        struct comparison a, b = compare_plainly(&crowd);
        task_compare(&crowd.result, &crowd.tolerance, crowd.got, &a);
        assert_int_equal(a.wrong, b.wrong);
        assert_int_equal(a.unjudged, b.unjudged);
        assert_int_equal(a.first_wrong, b.first_wrong);
        assert_true(a.worst == b.worst);
    }
}

/* Whatever this processor has, the passes in pairs give the same bits. */
static void
vectors_of_any_width_agree(void **state)
{
    struct rng rng = rng_stream(2, "crowd");
    static struct crowd crowd;
    static struct block block;
    static struct got got[HONEST];
    const struct passes *passes[] = {&pass__plain, pass_here()};

    (void)state;
    for (int n = 0; n < 20; n++) {
        double squares[2][BLOCK];
        struct shown shown[2] = {0};
        struct comparison compared[2] = {0};
        fill_crowd(&crowd, n % 2 ? DTYPE_F32 : DTYPE_F64, n % 5 ? 0 : 3000, 3, &rng);
        for (int64_t first = 0; first < MANY; first += BLOCK) {
            block_take(&block, &crowd.result, first);
            for (int h = 0; h < HONEST; h++)
                block_read(&block, crowd.got, &got[h]);
            bool done[2], told[2];
            for (int p = 0; p < 2; p++) {
                done[p] = passes[p]->observe(&block, got, &shown[p], squares[p]);
                told[p] = passes[p]->compare(&block, &crowd.tolerance, got, &compared[p]);
            }
            assert_true(done[0] == done[1] && told[0] == told[1]);
            assert_memory_equal(squares[0], squares[1], sizeof squares[0]);
        }
        assert_true(shown[0].ratio == shown[1].ratio && shown[0].count == shown[1].count);
        assert_memory_equal(&compared[0], &compared[1], sizeof compared[0]);
    }
}

static void
a_denormal_is_found_anywhere(void **state)
{
    const struct passes *passes[] = {&pass__plain, pass_here()};
    uint32_t bits[37] = {0};

    (void)state;
    for (int p = 0; p < 2; p++)
        for (int64_t at = 0; at < 37; at++) {
            static const struct {
                uint32_t bits;
                bool denormal;
            } cases[] = {{0x00000001, true},  {0x807fffff, true},  {0x00800000, false},
                         {0x80000000, false}, {0x7fc00001, false}, {0xff800000, false}};
            for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                bits[at] = cases[i].bits;
                assert_int_equal(passes[p]->has_denormals(bits, 37), cases[i].denormal);
            }
            bits[at] = 0x3f800000;
        }
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
        cmocka_unit_test(crowds_are_compared_as_single_ones),
        cmocka_unit_test(vectors_of_any_width_agree),
        cmocka_unit_test(a_denormal_is_found_anywhere),
        cmocka_unit_test(elements_of_every_dtype),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
