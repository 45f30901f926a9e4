/* The rules of doc/tolerance.md: against values worked out by hand, and against float arithmetic.
 */
#include "unit.h"

#include "base/rng.h"
#include "lang/rules_int.h"

#include <math.h>

#define U 0x1p-24

static struct val
val(double v, double g, double c)
{
    return (struct val){.v = v, .g = g, .c = c};
}

static void
close_to(double got, double want)
{
    if (got == want || (isnan(got) && isnan(want)))
        return;
    if (!(fabs(got - want) <= 1e-8 * fabs(want)))
        fail_msg("%.17g instead of %.17g", got, want);
}

static void
is_val(struct val got, double v, double g, double c)
{
    close_to(got.v, v);
    close_to(got.g, g);
    close_to(got.c, c);
}

static void
is_exact(struct val got, double v)
{
    is_val(got, v, 0, 0);
}

static void
is_unjudged(struct val got)
{
    assert_true(isnan(got.g));
    assert_true(isinf(got.c));
}

static void
is_integer(struct val got, int64_t i)
{
    is_exact(got, (double)i);
    assert_true(got.i == i);
}

/* ---- leaves ---- */

static void
inputs_are_exact_unless_denormal(void **state)
{
    const float f32[] = {1.1F, 0x1p-130F, 0, -INFINITY};
    const uint16_t f16[] = {0x3c00, 0x0001}; /* 1, the smallest denormal */
    const int8_t i8[] = {-7};

    (void)state;
    is_exact(val_input(DTYPE_F32, f32, 0), (double)1.1F);
    is_val(val_input(DTYPE_F32, f32, 1), 0x1p-130, 0x1p-130, 0x1p-130);
    is_exact(val_input(DTYPE_F32, f32, 2), 0);
    is_exact(val_input(DTYPE_F32, f32, 3), -INFINITY);
    is_exact(val_input(DTYPE_F16, f16, 0), 1);
    is_val(val_input(DTYPE_F16, f16, 1), 0x1p-24, 0x1p-24, 0x1p-24);
    is_integer(val_input(DTYPE_I8, i8, 0), -7);
}

static void
constants_are_exact_if_their_type_holds_them(void **state)
{
    (void)state;
    is_exact(val_real(0.5, KIND_F32), 0.5);
    is_val(val_real(0.1, KIND_F32), 0.1, U * 0.1, U * 0.1);
    is_exact(val_real(0.1, KIND_F64), 0.1);
    is_exact(val_real(-INFINITY, KIND_F32), -INFINITY);
    is_unjudged(val_real(1e40, KIND_F32));
    is_exact(val_convert(val_integer(1 << 24), KIND_INT, KIND_F32), 0x1p24);
    is_val(val_convert(val_integer((1 << 24) + 1), KIND_INT, KIND_F32), 0x1p24 + 1,
           U * (0x1p24 + 1), U * (0x1p24 + 1));
    is_exact(val_convert(val_integer((1 << 24) + 1), KIND_INT, KIND_F64), 0x1p24 + 1);
}

/* ---- arithmetic ---- */

static void
arithmetic_follows_the_table(void **state)
{
    const struct val a = val(3, 3e-6, 5e-6), b = val(-4, 4e-6, 6e-6);

    (void)state;
    is_val(val_add(a, b, KIND_F32), -1, hypot(5e-6, U), 11e-6 + U);
    is_val(val_sub(a, b, KIND_F32), 7, hypot(5e-6, 7 * U), 11e-6 + 7 * U);
    is_val(val_mul(a, b, KIND_F32), -12, hypot(hypot(hypot(12e-6, 12e-6), 12e-12), 12 * U),
           18e-6 + 20e-6 + 30e-12 + 12 * U);
    is_val(val_div(a, b, KIND_F32), -0.75, hypot(hypot(3e-6, 3e-6) / 4, 1.5 * U),
           (5e-6 + 0.75 * 6e-6) / (4 - 6e-6) + 1.5 * U);
    is_val(val_add(a, b, KIND_F64), -1, hypot(5e-6, 0x1p-53), 11e-6 + 0x1p-53);
    is_val(val_neg(a), -3, 3e-6, 5e-6);
    is_val(val_abs(b), 4, 4e-6, 6e-6);
}

/* Decision 15. */
static void
a_sum_may_begin_with_what_is_added(void **state)
{
    const struct val s = val(3, 3e-6, 5e-6), b = val(-4, 4e-6, 6e-6), huge = val(1e300, 0, 0);
    const double plain = hypot(5e-6, U), start = U * sqrt(100.0 * (16 + 12));

    (void)state;
    is_val(val_add_sums(s, 100, b, 0, KIND_F32), -1, hypot(plain, start),
           11e-6 + U + 100 * U * (4 + 6e-6));
    is_val(val_add_sums(b, 0, s, 100, KIND_F32), -1, hypot(plain, start),
           11e-6 + U + 100 * U * (4 + 6e-6));
    is_val(val_add_sums(s, 100, b, 7, KIND_F32), -1,
           hypot(hypot(plain, start), U * sqrt(7.0 * (9 + 12))),
           11e-6 + U + 100 * U * (4 + 6e-6) + 7 * U * (3 + 5e-6));
    is_val(val_add_sums(s, 100, val(0, 0, 0), 0, KIND_F32), 3, hypot(3e-6, 3 * U), 5e-6 + 3 * U);
    is_val(val_add_sums(huge, 4, huge, 0, KIND_F64), 2e300,
           0x1p-53 * hypot(2e300, sqrt(8.0) * 1e300), 0x1p-53 * 6e300);
    is_exact(val_add_sums(val(INFINITY, 0, 0), 9, val(0, 0, 0), 0, KIND_F32), INFINITY);
    is_unjudged(val_add_sums(val_unjudged(1), 9, b, 0, KIND_F32));
}

/* Decision 16: 1 + 1 - 1 - 1 has the partial sums 1, 2, 1, 0. */
static void
few_sums_have_the_walk_of_their_order(void **state)
{
    static const double terms[] = {1, 1, -1, -1};
    struct val_reduction r;

    (void)state;
    for (int few = 0; few < 2; few++) {
        val_begin(&r, REDUCE_SUM, KIND_F32, NULL);
        r.few = few;
        for (size_t i = 0; i < 4; i++)
            val_term(&r, val(terms[i], 0, 0));
        double walk = 4 + 5 * 4.0 / 6; /* of all orders: 7.3 */
        is_val(val_end(&r), 0, U * sqrt(walk), 4 * U * 4);
    }
    val_begin(&r, REDUCE_SUM, KIND_F32, NULL);
    r.few = true;
    for (int i = 0; i < 20; i++)
        val_term(&r, val(i < 10 ? 1 : -1, 0, 0));
    is_val(val_end(&r), 0, U * sqrt(2 * 285.0 + 100), 20 * U * 20);
}

static void
divisors_near_zero_are_unjudged(void **state)
{
    (void)state;
    is_unjudged(val_div(val(1, 0, 0), val(0, 0, 0), KIND_F32));
    is_unjudged(val_div(val(1, 0, 0), val(1e-6, 1e-7, 1e-7), KIND_F32));
    assert_false(isnan(val_div(val(1, 0, 0), val(1.3e-6, 1e-7, 1e-7), KIND_F32).g));
    assert_true(isinf(val_div(val(1, 0, 0), val(1, 0.01, 1), KIND_F32).c));
}

static void
range_decides_what_is_judged(void **state)
{
    const struct val inf = val(INFINITY, 0, 0), large = val(3e38, 0, 0), tiny = val(1e-30, 0, 0);

    (void)state;
    is_unjudged(val_add(large, large, KIND_F32));
    assert_false(isnan(val_add(large, large, KIND_F64).g));
    is_unjudged(val_mul(val(1e300, 0, 0), val(1e300, 0, 0), KIND_F64));
    is_exact(val_add(inf, large, KIND_F32), INFINITY);
    is_exact(val_mul(inf, val(-2, 1e-7, 1e-7), KIND_F32), -INFINITY);
    is_unjudged(val_mul(inf, val(-1e-60, 0, 0), KIND_F32)); /* in f32 it may be 0 */
    is_exact(val_mul(inf, val(-1e-60, 0, 0), KIND_F64), -INFINITY);
    is_unjudged(val_mul(inf, val(1e-7, 1e-7, 1e-7), KIND_F32)); /* its sign is not known */
    is_exact(val_sub(inf, inf, KIND_F32), NAN);
    is_exact(val_mul(inf, val(0, 0, 0), KIND_F32), NAN);
    is_exact(val_div(val(2, 0, 0), inf, KIND_F32), 0);
    is_exact(val_add(val(NAN, 0, 0), large, KIND_F32), NAN);
    is_unjudged(val_add(val_unjudged(1), inf, KIND_F32));
    is_val(val_mul(tiny, tiny, KIND_F32), 1e-60, 1e-60, 1e-60); /* may be flushed */
    is_val(val_mul(tiny, tiny, KIND_F64), 1e-60, 0x1p-53 * 1e-60, 0x1p-53 * 1e-60);
}

static void
worst_cases_saturate(void **state)
{
    const struct val wild = val(1, 1e-7, INFINITY);

    (void)state;
    assert_true(isinf(val_mul(wild, val(0, 0, 0), KIND_F32).c));
    assert_true(isinf(val_add(wild, wild, KIND_F32).c));
    assert_true(isinf(val_function(OP_EXP, wild, KIND_F32).c));
    assert_true(isinf(val_function(OP_TAN, wild, KIND_F32).c));
    assert_true(isinf(val_pow(wild, val(2, 0, 0), KIND_F32).c));
}

static void
integers_are_whole_and_exact(void **state)
{
    const struct val a = val_integer(-7), b = val_integer(2),
                     doubt = val_compare(OP_LT, val(1, 1e-7, 1e-7), val(1, 0, 0), KIND_F32);

    (void)state;
    is_integer(val_div(a, b, KIND_INT), -4);
    is_integer(val_mod(a, b), 1);
    is_integer(val_mul(val_integer(3037000500), val_integer(3037000499), KIND_INT),
               9223372033963249500);
    is_integer(val_sub(a, b, KIND_INT), -9);
    is_val(doubt, 0, 1.0 / 6, 1);
    is_val(val_add(a, doubt, KIND_INT), -7, 1.0 / 6, 1);
    is_val(val_mul(a, doubt, KIND_INT), 0, 7.0 / 6, 7);
    is_unjudged(val_mod(doubt, b));
    is_unjudged(val_div(a, val_integer(0), KIND_INT));
}

/* ---- functions ---- */

static void
functions_follow_the_table(void **state)
{
    const struct val a = val(0.5, 1e-6, 2e-6);
    double v = exp(0.5);

    (void)state;
    is_val(val_function(OP_EXP, a, KIND_F32), v, hypot(v * 1e-6, 4 * U * v),
           exp(0.5 + 2e-6) * 2e-6 + 4 * U * v);
    v = tanh(0.5);
    is_val(val_function(OP_TANH, a, KIND_F32), v,
           hypot(hypot((1 - v * v) * 1e-6, 4 * U * v), 2 * U),
           (1 - pow(tanh(0.5 - 2e-6), 2)) * 2e-6 + 4 * U * v + 2 * U);
    v = sqrt(0.5);
    is_val(val_function(OP_SQRT, a, KIND_F32), v, hypot(0.5 / v * 1e-6, U * v),
           0.5 / sqrt(0.5 - 2e-6) * 2e-6 + U * v);
    v = 1 / (1 + exp(-0.5));
    is_val(val_function(OP_SIGMOID, val(0.5, 0, 0), KIND_F32), v, 2 * U * v, 2 * U * v);
    v = sin(0.5);
    is_val(val_function(OP_SIN, a, KIND_F32), v, hypot(hypot(cos(0.5) * 1e-6, 4 * U * v), 2 * U),
           2e-6 + 4 * U * v + 2 * U);
    v = log(0.5);
    is_val(val_function(OP_LOG, val(0.5, 0, 0), KIND_F64), v, -4 * 0x1p-53 * v, -4 * 0x1p-53 * v);
}

/* |f'| of the table is the derivative, and nowhere on the interval is it larger than its sup. */
static void
slopes_are_derivatives(void **state)
{
    (void)state;
    for (enum op op = OP_SQRT; op < OP_POW; op++)
        for (double x = 0.3; x < 1.4; x += 0.1) {
            double h = 1e-5, size = 0.01;
            double slope = (val_function(op, val(x + h, 0, 0), KIND_F64).v -
                            val_function(op, val(x - h, 0, 0), KIND_F64).v) /
                           (2 * h);
            double g = val_function(op, val(x, 1e-3, 0), KIND_F64).g / 1e-3;
            double c = val_function(op, val(x, 0, size), KIND_F64).c / size;
            if (fabs(g - fabs(slope)) > 1e-6 * (1 + g))
                fail_msg("%s'(%g): %.9g, not %.9g", op_info[op].spelling, x, g, slope);
            for (double y = x - size; y <= x + size; y += size / 16)
                assert_true(val_function(op, val(y, 1e-3, 0), KIND_F64).g / 1e-3 <= c * (1 + 1e-9));
        }
}

static void
functions_know_their_domain(void **state)
{
    static const enum op positive[] = {OP_LOG, OP_LOG2, OP_RSQRT};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        is_unjudged(val_function(positive[i], val(1e-6, 1e-7, 1e-7), KIND_F32));
        is_unjudged(val_function(positive[i], val(0, 0, 0), KIND_F32));
        assert_false(isnan(val_function(positive[i], val(1.3e-6, 1e-7, 1e-7), KIND_F32).g));
    }
    is_unjudged(val_function(OP_LOG1P, val(-1 + 1e-6, 1e-7, 1e-7), KIND_F32));
    assert_false(isnan(val_function(OP_LOG1P, val(1e-6, 1e-7, 1e-7), KIND_F32).g));
    close_to(val_function(OP_SQRT, val(0, 6e-8, 6e-8), KIND_F32).g, sqrt(36e-8) / 6);
    is_exact(val_function(OP_SQRT, val(-1, 0, 0), KIND_F32), NAN);
    is_unjudged(val_function(OP_SQRT, val(-1e-7, 1e-7, 1e-7), KIND_F32));
    is_unjudged(val_function(OP_EXP, val(100, 0, 0), KIND_F32)); /* overflows */
    assert_false(isnan(val_function(OP_EXP, val(100, 0, 0), KIND_F64).g));
    is_exact(val_function(OP_EXP, val(-INFINITY, 0, 0), KIND_F32), 0);
    is_exact(val_function(OP_EXP, val(INFINITY, 0, 0), KIND_F32), INFINITY);
    close_to(val_function(OP_EXP, val(0, 1, 1), KIND_F32).g, hypot(expm1(6) / 6, 4 * U));
}

static void
powers_have_two_slopes(void **state)
{
    const struct val a = val(2, 1e-6, 2e-6), b = val(2.5, 1e-6, 2e-6);
    double v = pow(2, 2.5), r = 4 * (1 + 2.5 * M_LN2) * U * v;

    (void)state;
    close_to(val_pow(a, b, KIND_F32).g,
             hypot(hypot(2.5 * pow(2, 1.5) * 1e-6, v * M_LN2 * 1e-6), r));
    is_unjudged(val_pow(val(1e-6, 1e-7, 1e-7), b, KIND_F32));
    is_unjudged(val_pow(val(-2, 0, 0), val(0.5, 0, 0), KIND_F32));
    /* whole exponents are products: any base */
    close_to(val_pow(val(-3, 1e-6, 2e-6), val(2, 0, 0), KIND_F32).g,
             hypot(6e-6, 4 * (1 + 2 * log(3)) * U * 9));
    close_to(val_pow(val(-3, 1e-6, 2e-6), val(2, 0, 0), KIND_F32).c,
             2 * (3 + 2e-6) * 2e-6 + 4 * (1 + 2 * log(3)) * U * 9);
    is_exact(val_pow(val(0, 0, 0), val(3, 0, 0), KIND_F32), 0);
    is_unjudged(val_pow(val(1e-6, 1e-7, 1e-7), val(-1, 0, 0), KIND_F32));
}

static void
steps_jump(void **state)
{
    (void)state;
    is_exact(val_function(OP_FLOOR, val(-1.5, 1e-7, 1e-7), KIND_F32), -2);
    is_exact(val_function(OP_CEIL, val(-1.5, 1e-7, 1e-7), KIND_F32), -1);
    is_exact(val_function(OP_TRUNC, val(-1.5, 1e-7, 1e-7), KIND_F32), -1);
    is_exact(val_function(OP_SIGN, val(-1.5, 1e-7, 1e-7), KIND_F32), -1);
    is_exact(val_function(OP_ROUND, val(2.5, 0, 0), KIND_F32), 2); /* to even */
    is_exact(val_function(OP_ROUND, val(3.5, 0, 0), KIND_F32), 4);
    is_exact(val_function(OP_ROUND, val(-0.5, 0, 0), KIND_F32), 0);
    is_val(val_function(OP_ROUND, val(2.5, 1e-7, 1e-6), KIND_F32), 2, 1.0 / 6, 1);
    is_val(val_function(OP_FLOOR, val(3, 1e-7, 1e-6), KIND_F32), 3, 1.0 / 6, 1);
    is_val(val_function(OP_FLOOR, val(3.5, 0.5, 3), KIND_F32), 3, 3.0 / 6, 3); /* several */
    is_val(val_function(OP_TRUNC, val(3, 1.0 / 6, 1), KIND_F32), 3, 1.0 / 6, 1);
    is_val(val_function(OP_SIGN, val(1e-7, 1e-7, 1e-6), KIND_F32), 1, 2.0 / 6, 2);
    is_exact(val_function(OP_FLOOR, val(INFINITY, 0, 0), KIND_F32), INFINITY);
}

static void
softplus_is_pytorchs(void **state)
{
    (void)state;
    close_to(val_function(OP_SOFTPLUS, val(19.9, 0, 0), KIND_F64).v, log1p(exp(19.9)));
    close_to(val_function(OP_SOFTPLUS, val(20.1, 0, 0), KIND_F64).v, 20.1);
    close_to(val_function(OP_SOFTPLUS, val(0, 1e-6, 0), KIND_F32).g, hypot(0.5e-6, 4 * U * M_LN2));
    assert_true(val_function(OP_SOFTPLUS, val(20, 1e-12, 0), KIND_F64).g > 2e-10);
}

/* ---- choice ---- */

static void
comparisons_know_when_they_are_decided(void **state)
{
    const struct val a = val(1, 1e-7, 1e-6), b = val(1 + 1.3e-6, 0, 0), c = val(1 + 1.1e-6, 0, 0);

    (void)state;
    is_integer(val_compare(OP_LT, a, b, KIND_F32), 1);
    is_val(val_compare(OP_LT, a, c, KIND_F32), 1, 1.0 / 6, 1);
    is_val(val_compare(OP_EQ, a, a, KIND_F32), 1, 1.0 / 6, 1);
    is_integer(val_compare(OP_EQ, b, b, KIND_F32), 1); /* both exact */
    is_integer(val_compare(OP_GE, val(INFINITY, 0, 0), a, KIND_F32), 1);
    is_unjudged(val_compare(OP_LT, a, val(NAN, 0, 0), KIND_F32));
    is_unjudged(val_compare(OP_LT, a, val_unjudged(5), KIND_F32));
    is_integer(val_compare(OP_NE, val_integer(1), val_integer(2), KIND_INT), 1);
}

static void
logic_is_decided_by_either_side(void **state)
{
    const struct val yes = val_integer(1), no = val_integer(0);
    const struct val doubt = {.v = 1, .g = 1.0 / 6, .c = 1, .i = 1};
    struct val lost = val_unjudged(1);

    (void)state;
    is_integer(val_and(no, lost), 0);
    is_integer(val_and(doubt, no), 0);
    is_val(val_and(doubt, yes), 1, 1.0 / 6, 1);
    is_integer(val_or(yes, lost), 1);
    is_integer(val_or(doubt, yes), 1);
    is_val(val_or(no, doubt), 1, 1.0 / 6, 1);
    is_unjudged(val_or(no, lost));
    is_unjudged(val_and(doubt, lost));
    is_val(val_not(doubt), 0, 1.0 / 6, 1);
}

static void
choices_in_doubt_cover_both(void **state)
{
    const struct val doubt = {.v = 1, .g = 1.0 / 6, .c = 1, .i = 1};
    const struct val a = val(1, 1e-7, 2e-7), b = val(1.6, 3e-7, 4e-7), inf = val(-INFINITY, 0, 0);

    (void)state;
    is_val(val_either(doubt, a, b, KIND_F32), 1, 3e-7 + 0.6 / 6, 4e-7 + 0.6);
    is_unjudged(val_either(doubt, a, inf, KIND_F32));
    is_exact(val_either(doubt, inf, inf, KIND_F32), -INFINITY);
    is_unjudged(val_either(val_unjudged(1), a, b, KIND_F32));
}

static void
extremes_may_be_overtaken(void **state)
{
    const struct val a = val(1, 1e-7, 1e-7), near = val(0.9, 0.1, 0.3), far = val(0.5, 1e-3, 1e-2);

    (void)state;
    is_val(val_extreme(OP_MAX, a, far, KIND_F32), 1, 1e-7, 1e-7);
    is_val(val_extreme(OP_MAX, a, near, KIND_F32), 1, 0.5 / 6, 0.2);
    is_val(val_extreme(OP_MIN, val_neg(a), val_neg(near), KIND_F32), -1, 0.5 / 6, 0.2);
    is_exact(val_extreme(OP_MAX, val(-INFINITY, 0, 0), val(0, 0, 0), KIND_F32), 0);
    is_exact(val_extreme(OP_MAX, val(INFINITY, 0, 0), a, KIND_F32), INFINITY);
    is_unjudged(val_extreme(OP_MAX, val(NAN, 0, 0), a, KIND_F32));
    is_integer(val_extreme(OP_MIN, val_integer(INT64_MAX), val_integer(INT64_MAX - 1), KIND_INT),
               INT64_MAX - 1);
}

/* ---- storing ---- */

static void
narrow_types_round(void **state)
{
    const struct val a = val(3, 3e-6, 5e-6);

    (void)state;
    is_val(val_store(DTYPE_F32, a, KIND_F32), 3, 3e-6, 5e-6);
    is_val(val_store(DTYPE_F64, a, KIND_F32), 3, 3e-6, 5e-6);
    is_val(val_store(DTYPE_F32, a, KIND_F64), 3, hypot(3e-6, 3 * U), 5e-6 + 3 * U);
    is_val(val_store(DTYPE_F16, a, KIND_F32), 3, hypot(3e-6, 3 * 0x1p-11), 5e-6 + 3 * 0x1p-11);
    is_val(val_store(DTYPE_BF16, a, KIND_F32), 3, hypot(3e-6, 3 * 0x1p-8), 5e-6 + 3 * 0x1p-8);
    is_unjudged(val_store(DTYPE_F16, val(70000, 0, 0), KIND_F32));
    is_exact(val_store(DTYPE_F16, val(INFINITY, 0, 0), KIND_F32), INFINITY);
    is_val(val_store(DTYPE_F16, val(1e-5, 0, 0), KIND_F32), 1e-5, 1e-5, 1e-5);
    is_unjudged(val_store(DTYPE_F32, val(1e39, 0, 0), KIND_F64));
}

static void
integers_wrap(void **state)
{
    const struct val doubt = {.v = 127, .g = 1.0 / 6, .c = 1, .i = 127};

    (void)state;
    is_integer(val_store(DTYPE_I8, val_integer(200), KIND_INT), -56);
    is_integer(val_store(DTYPE_U8, val_integer(-1), KIND_INT), 255);
    is_integer(val_store(DTYPE_I32, val_integer(INT64_C(1) << 31), KIND_INT), INT32_MIN);
    is_integer(val_store(DTYPE_BOOL, val_integer(2), KIND_INT), 1);
    is_val(val_store(DTYPE_F32, val_integer(3), KIND_INT), 3, 0, 0);
    is_unjudged(val_store(DTYPE_I8, doubt, KIND_INT)); /* 128 would be -128 */
    is_val(val_store(DTYPE_I32, doubt, KIND_INT), 127, 1.0 / 6, 1);
}

static void
casts_cut_toward_zero(void **state)
{
    (void)state;
    is_integer(val_store(DTYPE_I32, val(-1.9, 1e-7, 1e-7), KIND_F32), -1);
    is_val(val_store(DTYPE_I32, val(2, 1e-7, 1e-7), KIND_F32), 2, 1.0 / 6, 1);
    is_unjudged(val_store(DTYPE_I8, val(128, 0, 0), KIND_F32));
    is_integer(val_store(DTYPE_I8, val(-128.5, 0, 0), KIND_F32), -128);
    is_unjudged(val_store(DTYPE_I32, val(NAN, 0, 0), KIND_F32));
    is_integer(val_store(DTYPE_BOOL, val(0.5, 0, 0), KIND_F32), 1);
}

/* ---- reductions ---- */

static struct val
reduce(enum reduction reduction, const struct val *terms, size_t count, enum kind kind)
{
    struct val room[64];
    struct val_reduction r;

    val_begin(&r, reduction, kind, room);
    for (size_t i = 0; i < count; i++)
        val_term(&r, terms[i]);
    return val_end(&r);
}

static void
sums_follow_the_table(void **state)
{
    const struct val t[] = {val(1, 1e-6, 2e-6), val(-2, 2e-6, 3e-6), val(4, 0, 0)};
    double walk = 21 + 9 * 4.0 * 7 / 18 + 4 * (21 - 9.0 / 3) / 6;
    double g = sqrt(5e-12 + U * U * walk), c = 5e-6 + 3 * U * (7 + 5e-6);

    (void)state;
    is_val(reduce(REDUCE_SUM, t, 3, KIND_F32), 3, g, c);
    is_val(reduce(REDUCE_MEAN, t, 3, KIND_F32), 1, hypot(g / 3, 2 * U), c / 3 + 2 * U);
}

static void
sums_at_the_edges(void **state)
{
    const struct val large[] = {val(3e38, 0, 0), val(-3e38, 0, 0)};
    const struct val infinite[] = {val(INFINITY, 0, 0), val(3, 0, 0), val(INFINITY, 0, 0)};
    const struct val opposed[] = {val(INFINITY, 0, 0), val(-INFINITY, 0, 0)};
    const struct val tiny[] = {val(1e-39, 0, 0), val(2e-39, 0, 0)};
    const struct val whole[] = {val_integer(INT64_MAX), val_integer(2), val_integer(-3)};

    (void)state;
    is_unjudged(reduce(REDUCE_SUM, large, 2, KIND_F32)); /* another order could overflow */
    is_exact(reduce(REDUCE_SUM, infinite, 3, KIND_F32), INFINITY);
    is_exact(reduce(REDUCE_SUM, opposed, 2, KIND_F32), NAN);
    assert_true(reduce(REDUCE_SUM, tiny, 2, KIND_F32).g >= 3e-39);
    is_integer(reduce(REDUCE_SUM, whole, 3, KIND_INT), INT64_MAX - 1);
}

static void
empty_reductions_have_a_value(void **state)
{
    (void)state;
    is_exact(reduce(REDUCE_SUM, NULL, 0, KIND_F32), 0);
    is_exact(reduce(REDUCE_PROD, NULL, 0, KIND_F32), 1);
    is_exact(reduce(REDUCE_MAX, NULL, 0, KIND_F32), -INFINITY);
    is_exact(reduce(REDUCE_MIN, NULL, 0, KIND_F32), INFINITY);
    is_integer(reduce(REDUCE_MAX, NULL, 0, KIND_INT), INT32_MIN);
    is_integer(reduce(REDUCE_MIN, NULL, 0, KIND_INT), INT32_MAX);
    is_integer(reduce(REDUCE_ARGMAX, NULL, 0, KIND_F32), -1);
    is_unjudged(reduce(REDUCE_MEAN, NULL, 0, KIND_F32));
}

static void
products_go_term_by_term(void **state)
{
    const struct val t[] = {val(2, 0, 0), val(3, 0, 0), val(4, 1e-6, 1e-6)};
    const struct val wide[] = {val(1e30, 0, 0), val(1e30, 0, 0), val(1e-30, 0, 0),
                               val(1e-30, 0, 0)};
    const struct val small[] = {val(1e-30, 0, 0), val(0, 0, 0), val(1e-30, 0, 0)};
    double g = hypot(hypot(U * 2 * 12, U * 6 * 4), hypot(6e-6, U * 24));

    (void)state;
    close_to(reduce(REDUCE_PROD, t, 3, KIND_F32).g, g);
    is_unjudged(reduce(REDUCE_PROD, wide, 4, KIND_F32));
    assert_false(isnan(reduce(REDUCE_PROD, wide, 4, KIND_F64).g));
    assert_true(reduce(REDUCE_PROD, small, 3, KIND_F32).v == 0);
}

static void
maxima_of_many(void **state)
{
    const struct val t[] = {val(1, 0, 0), val(5, 1e-7, 1e-7), val(4.9, 0.1, 0.3), val(2, 0, 0)};
    const struct val lost[] = {val(1, 0, 0), val_unjudged(-100)};

    (void)state;
    is_val(reduce(REDUCE_MAX, t, 4, KIND_F32), 5, 0.5 / 6, 0.2);
    is_exact(reduce(REDUCE_MIN, t, 4, KIND_F32), 1);
    is_unjudged(reduce(REDUCE_MAX, lost, 2, KIND_F32));
}

static void
winners_are_decided_or_not(void **state)
{
    const struct val ties[] = {val(1, 0, 0), val(3, 0, 0), val(3, 0, 0)};
    const struct val doubt[] = {val(1, 1e-7, 1e-7), val(3, 1e-7, 1e-7), val(3, 1e-7, 1e-7)};
    const struct val apart[] = {val(1, 1e-7, 1e-7), val(3, 1e-7, 1e-7), val(2, 1e-7, 1e-7)};

    (void)state;
    is_integer(reduce(REDUCE_ARGMAX, ties, 3, KIND_F32), 1);
    is_integer(reduce(REDUCE_ARGMIN, ties, 3, KIND_F32), 0);
    is_integer(reduce(REDUCE_ARGMAX, apart, 3, KIND_F32), 1);
    is_unjudged(reduce(REDUCE_ARGMAX, doubt, 3, KIND_F32));
    assert_true(reduce(REDUCE_ARGMAX, doubt, 3, KIND_F32).v == 1);
}

static void
filters_drop_terms(void **state)
{
    struct val room[3];
    struct val_reduction r;

    (void)state;
    val_begin(&r, REDUCE_MEAN, KIND_F32, room);
    val_term(&r, val(2, 0, 0));
    val_drop(&r);
    val_term(&r, val(4, 0, 0));
    close_to(val_end(&r).v, 3);
    val_drop(&r);
    val_doubt(&r);
    is_unjudged(val_end(&r));
    val_begin(&r, REDUCE_ARGMAX, KIND_F32, room);
    val_drop(&r);
    val_term(&r, val(4, 0, 0));
    is_integer(val_end(&r), 1);
    assert_true(isnan(room[0].v) && room[0].g == 0);
}

/* ---- against float arithmetic ---- */

struct pair { /* a value as the reference has it and as a float kernel has it */
    struct val a;
    float y;
};

static float
shuffled_sum(struct rng *rng, const struct pair *t, size_t count)
{
    float lane[4] = {0};
    size_t order[16], lanes = 1 + rng_below(rng, 4);

    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count; i > 1; i--) {
        size_t j = rng_below(rng, i), k = order[i - 1];
        order[i - 1] = order[j];
        order[j] = k;
    }
    for (size_t i = 0; i < count; i++)
        lane[i % lanes] += t[order[i]].y;
    return lane[0] + lane[1] + lane[2] + lane[3];
}

static struct pair
random_sum(struct rng *rng, const struct pair *pool, size_t pool_count)
{
    size_t count = 1 + rng_below(rng, 16);
    struct pair t[16];
    struct val_reduction r;

    val_begin(&r, REDUCE_SUM, KIND_F32, NULL);
    for (size_t i = 0; i < count; i++) {
        t[i] = pool[rng_below(rng, pool_count)];
        val_term(&r, t[i].a);
    }
    return (struct pair){val_end(&r), shuffled_sum(rng, t, count)};
}

static struct pair
random_function(struct rng *rng, struct pair p)
{
    static const struct {
        enum op op;
        float (*f)(float);
    } known[] = {{OP_SQRT, sqrtf}, {OP_EXP, expf},   {OP_EXP2, exp2f}, {OP_EXPM1, expm1f},
                 {OP_LOG, logf},   {OP_LOG2, log2f}, {OP_SIN, sinf},   {OP_LOG1P, log1pf},
                 {OP_COS, cosf},   {OP_TANH, tanhf}, {OP_ERF, erff},   {OP_ATAN, atanf},
                 {OP_SINH, sinhf}, {OP_COSH, coshf}};
    size_t i = rng_below(rng, sizeof known / sizeof *known);

    return (struct pair){val_function(known[i].op, p.a, KIND_F32), known[i].f(p.y)};
}

static struct pair
random_operation(struct rng *rng, const struct pair *pool, size_t count)
{
    struct pair p = pool[rng_below(rng, count)], q = pool[rng_below(rng, count)];

    switch (rng_below(rng, 9)) {
    case 0:
        return (struct pair){val_add(p.a, q.a, KIND_F32), p.y + q.y};
    case 1:
        return (struct pair){val_sub(p.a, q.a, KIND_F32), p.y - q.y};
    case 2:
        return (struct pair){val_mul(p.a, q.a, KIND_F32), p.y * q.y};
    case 3:
        return (struct pair){val_div(p.a, q.a, KIND_F32), p.y / q.y};
    case 4:
        return (struct pair){val_extreme(OP_MAX, p.a, q.a, KIND_F32), fmaxf(p.y, q.y)};
    case 5:
        return (struct pair){val_abs(p.a), fabsf(p.y)};
    case 6:
        return (struct pair){val_pow(val_abs(p.a), q.a, KIND_F32), powf(fabsf(p.y), q.y)};
    case 7:
        return random_sum(rng, pool, count);
    default:
        return random_function(rng, p);
    }
}

/* Values stay of ordinary size, so that a pool does not run away. */
static bool
is_ordinary(struct pair p)
{
    return !isnan(p.a.g) && fabs(p.a.v) < 1e3 && fabs(p.a.v) > 1e-3 && p.a.c < 1e-2 * fabs(p.a.v);
}

static void
floats_stay_within_the_sizes(void **state)
{
    enum { POOLS = 3000, POOL = 24 };
    struct rng rng = rng_stream(1, "rules");
    double squares = 0;
    size_t judged = 0, beyond = 0;

    (void)state;
    for (size_t n = 0; n < POOLS; n++) {
        struct pair pool[POOL];
        for (size_t i = 0; i < POOL; i++) {
            pool[i].y = (float)rng_normal(&rng);
            pool[i].a = val_input(DTYPE_F32, &pool[i].y, 0);
            if (i < 4)
                continue;
            struct pair p = random_operation(&rng, pool, i);
            double error = fabs((double)p.y - p.a.v);
            if (!is_ordinary(p))
                continue;
            if (error > p.a.c * (1 + 1e-5))
                fail_msg("pool %zu, value %zu: %g is %g off, c is %g", n, i, p.a.v, error, p.a.c);
            pool[i] = p;
            if (p.a.g == 0)
                continue;
            judged++;
            beyond += error > 6 * p.a.g;
            squares += fmin(error / p.a.g, 6) * fmin(error / p.a.g, 6);
        }
    }
    print_message("%zu values: error/g has root-mean-square %.2f, %zu beyond 6g\n", judged,
                  sqrt(squares / (double)judged), beyond);
    assert_true(judged > 10000);
    assert_true(beyond * 1000 <= judged); /* reused operands: decision 8 */
    assert_true(squares / (double)judged > 0.04 && squares / (double)judged < 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_are_exact_unless_denormal),
        cmocka_unit_test(constants_are_exact_if_their_type_holds_them),
        cmocka_unit_test(arithmetic_follows_the_table),
        cmocka_unit_test(a_sum_may_begin_with_what_is_added),
        cmocka_unit_test(few_sums_have_the_walk_of_their_order),
        cmocka_unit_test(divisors_near_zero_are_unjudged),
        cmocka_unit_test(range_decides_what_is_judged),
        cmocka_unit_test(worst_cases_saturate),
        cmocka_unit_test(integers_are_whole_and_exact),
        cmocka_unit_test(functions_follow_the_table),
        cmocka_unit_test(slopes_are_derivatives),
        cmocka_unit_test(functions_know_their_domain),
        cmocka_unit_test(powers_have_two_slopes),
        cmocka_unit_test(steps_jump),
        cmocka_unit_test(softplus_is_pytorchs),
        cmocka_unit_test(comparisons_know_when_they_are_decided),
        cmocka_unit_test(logic_is_decided_by_either_side),
        cmocka_unit_test(choices_in_doubt_cover_both),
        cmocka_unit_test(extremes_may_be_overtaken),
        cmocka_unit_test(narrow_types_round),
        cmocka_unit_test(integers_wrap),
        cmocka_unit_test(casts_cut_toward_zero),
        cmocka_unit_test(sums_follow_the_table),
        cmocka_unit_test(sums_at_the_edges),
        cmocka_unit_test(empty_reductions_have_a_value),
        cmocka_unit_test(products_go_term_by_term),
        cmocka_unit_test(maxima_of_many),
        cmocka_unit_test(winners_are_decided_or_not),
        cmocka_unit_test(filters_drop_terms),
        cmocka_unit_test(floats_stay_within_the_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
