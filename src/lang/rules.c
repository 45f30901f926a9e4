/* The rules of doc/tolerance.md, one function a row: leaves, arithmetic, choice, storing. Functions
 * are in rules_function.c, reductions in rules_reduce.c.
 *
 * Every rounding operation computes v, g and c from the table and hands them to settle(), which
 * holds what is common to all rows: what is unjudged, infinite, NaN or too large.
 */
#include "lang/rules_int.h"

#include "base/num.h"
#include "lang/rules_rows_int.h"

#include <assert.h>

/* ---- leaves ---- */

struct val
val_unjudged(double v)
{
    return (struct val){.v = v, .g = NAN, .c = INFINITY};
}

struct val
val_integer(int64_t i)
{
    return whole(i, 0, 0);
}

/* Decision 9: a constant is exact if the arithmetic holds it. */
struct val
val_real(double v, enum kind kind)
{
    const struct dtype_info *type = arithmetic(kind);
    bool held = kind == KIND_F64 || (double)(float)v == v || isnan(v);
    double size = held ? 0 : rounding(v, 1, type);

    return settle((struct val){.v = v, .g = size, .c = size}, true, isinf(v), type);
}

struct val
val_input(enum dtype dtype, const void *data, int64_t at)
{
    double v = dtype_element(dtype, data, at);

    if (!dtype_is_float(dtype))
        return val_integer((int64_t)v);
    double size = fabs(v) < dtype_info[dtype].smallest ? fabs(v) : 0;
    return (struct val){.v = v, .g = size, .c = size};
}

struct val
val_convert(struct val a, enum kind from, enum kind to)
{
    if (!is_whole(from) || is_whole(to))
        return a;
    struct val held = val_real(a.v, to);
    return (struct val){.v = a.v, .g = root(a.g, held.g), .c = a.c + held.c};
}

/* ---- arithmetic ---- */

/* Decision 15: the n partial sums of s have b in them when they are rounded, if a kernel began with
 * it. The square of this is u^2 n (b^2 + |b s|); b^2 alone could leave the range of f64. */
static double
begun(double s, int64_t n, double b, const struct dtype_info *type)
{
    double size = fabs(b);

    return n == 0 ? 0 : type->roundoff * sqrt((double)n) * sqrt(size) * sqrt(size + fabs(s));
}

static double
begun_worst(int64_t n, struct val b, const struct dtype_info *type)
{
    return n == 0 ? 0 : type->roundoff * (double)n * (fabs(b.v) + b.c);
}

struct val
val_add_sums(struct val a, int64_t m, struct val b, int64_t n, enum kind kind)
{
    if (is_whole(kind))
        return whole((int64_t)((uint64_t)a.i + (uint64_t)b.i), root(a.g, b.g), a.c + b.c);
    const struct dtype_info *type = arithmetic(kind);
    double v = a.v + b.v, r = rounding(v, 1, type);
    double order = root(begun(a.v, m, b.v, type), begun(b.v, n, a.v, type));
    struct val sum = {.v = v, .g = root(root(root(a.g, b.g), r), order)};

    sum.c = a.c + b.c + r + begun_worst(m, b, type) + begun_worst(n, a, type);
    return settle_two(sum, a, b, type);
}

struct val
val_add(struct val a, struct val b, enum kind kind)
{
    return val_add_sums(a, 0, b, 0, kind);
}

struct val
val_sub(struct val a, struct val b, enum kind kind)
{
    return val_add(a, val_neg(b), kind);
}

struct val
val_neg(struct val a)
{
    return (struct val){.v = -a.v, .g = a.g, .c = a.c, .i = (int64_t) - (uint64_t)a.i};
}

struct val
val_abs(struct val a)
{
    return a.v < 0 ? val_neg(a) : (struct val){.v = fabs(a.v), .g = a.g, .c = a.c, .i = a.i};
}

/* An infinity times something whose sign, or being zero, is not decided; what is below the smallest
 * normal number may be zero. */
static bool
sign_in_doubt(struct val infinite, struct val b, const struct dtype_info *type)
{
    bool flushed = b.v != 0 && fabs(b.v) < type->smallest;

    return isinf(infinite.v) && (flushed || (b.g > 0 && fabs(b.v) <= 12 * b.g));
}

struct val
val_mul(struct val a, struct val b, enum kind kind)
{
    double g = root(root(times(fabs(a.v), b.g), times(fabs(b.v), a.g)), times(a.g, b.g));
    double c = times(fabs(a.v), b.c) + times(fabs(b.v), a.c) + times(a.c, b.c);

    if (is_whole(kind))
        return whole((int64_t)((uint64_t)a.i * (uint64_t)b.i), g, c);
    const struct dtype_info *type = arithmetic(kind);
    double v = a.v * b.v, r = rounding(v, 1, type);

    if (sign_in_doubt(a, b, type) || sign_in_doubt(b, a, type))
        return val_unjudged(v);
    return settle_two((struct val){.v = v, .g = root(g, r), .c = c + r}, a, b, type);
}

/* The sizes of a quotient before it is rounded. */
static void
quotient_sizes(struct val a, struct val b, double v, double *g, double *c)
{
    double size = fabs(b.v);

    *g = root(a.g, times(fabs(v), b.g)) / size;
    *c = b.c >= size ? INFINITY : (a.c + times(fabs(v), b.c)) / (size - b.c);
}

static struct val
whole_quotient(struct val a, struct val b)
{
    int64_t i = num_floor_div(a.i, b.i);
    double g, c;

    if (b.i == 0 || fabs(b.v) <= 12 * b.g)
        return whole(i, NAN, INFINITY);
    if (a.g == 0 && b.g == 0 && a.c == 0 && b.c == 0)
        return val_integer(i);
    quotient_sizes(a, b, a.v / b.v, &g, &c);
    return whole(i, g + 1.0 / 6, c + 1); /* the floor of a quotient in doubt: one jump more */
}

struct val
val_div(struct val a, struct val b, enum kind kind)
{
    if (is_whole(kind))
        return whole_quotient(a, b);
    const struct dtype_info *type = arithmetic(kind);
    double v = a.v / b.v, r = rounding(v, 2, type), g, c;

    if (fabs(b.v) <= 12 * b.g) /* also x/0: decision 5 */
        return val_unjudged(v);
    quotient_sizes(a, b, v, &g, &c);
    return settle_two((struct val){.v = v, .g = root(g, r), .c = c + r}, a, b, type);
}

/* A remainder in doubt may be any: it is unjudged. */
struct val
val_mod(struct val a, struct val b)
{
    bool sure = a.g == 0 && b.g == 0 && b.i != 0;

    return whole(num_floor_mod(a.i, b.i), sure ? 0 : NAN, 0);
}

/* ---- comparison and choice ---- */

bool
rule_holds(enum op op, struct val a, struct val b, enum kind kind)
{
    int order = is_whole(kind) ? (a.i > b.i) - (a.i < b.i) : (a.v > b.v) - (a.v < b.v);

    switch (op) {
    case OP_LT:
        return order < 0;
    case OP_LE:
        return order <= 0;
    case OP_GT:
        return order > 0;
    case OP_GE:
        return order >= 0;
    case OP_EQ:
        return order == 0;
    default:
        assert(op == OP_NE);
        return order != 0;
    }
}

/* Decision 2. */
bool
rule_decided(struct val a, struct val b)
{
    if (a.g == 0 && b.g == 0)
        return true;
    return fabs(a.v - b.v) > 12 * root(a.g, b.g);
}

struct val
val_compare(enum op op, struct val a, struct val b, enum kind kind)
{
    int64_t truth = rule_holds(op, a, b, kind);

    if (isnan(a.g) || isnan(b.g) || isnan(a.v) || isnan(b.v))
        return whole(truth, NAN, INFINITY);
    return rule_decided(a, b) ? val_integer(truth) : whole(truth, 1.0 / 6, 1);
}

struct val
val_not(struct val a)
{
    return whole(!a.i, a.g, a.c);
}

struct val
val_and(struct val a, struct val b)
{
    if ((val_decided(a) && !a.i) || (val_decided(b) && !b.i))
        return val_integer(0);
    if (val_decided(a) && val_decided(b))
        return val_integer(1);
    return whole(a.i && b.i, isnan(a.g) || isnan(b.g) ? NAN : 1.0 / 6, 1);
}

struct val
val_or(struct val a, struct val b)
{
    return val_not(val_and(val_not(a), val_not(b)));
}

struct val
val_either(struct val condition, struct val a, struct val b, enum kind kind)
{
    double apart = a.v == b.v ? 0 : fabs(a.v - b.v);
    bool judged = !isnan(condition.g) && !isnan(a.g) && !isnan(b.g) && isfinite(apart);
    double g = fmax(a.g, b.g) + apart / 6, c = fmax(a.c, b.c) + apart;

    if (is_whole(kind))
        return whole(a.i, judged ? g : NAN, c);
    return judged ? (struct val){.v = a.v, .g = g, .c = c} : val_unjudged(a.v);
}

/* ---- storing ---- */

static int64_t
wrapped(enum dtype dtype, int64_t i)
{
    switch (dtype) {
    case DTYPE_I32:
        return (int32_t)(uint32_t)(uint64_t)i;
    case DTYPE_I8:
        return (int8_t)(uint8_t)(uint64_t)i;
    case DTYPE_U8:
        return (uint8_t)(uint64_t)i;
    default:
        assert(dtype == DTYPE_BOOL);
        return i != 0;
    }
}

/* An integer in doubt must not wrap to the other end. */
static struct val
store_whole(enum dtype dtype, struct val a)
{
    int64_t i = wrapped(dtype, a.i);
    double low = dtype == DTYPE_I32 || dtype == DTYPE_I8 ? -dtype_info[dtype].largest - 1 : 0;
    double reach = fmin(6 * a.g, 2 * a.c);
    double g = a.g;

    if (g > 0 && dtype == DTYPE_BOOL)
        return whole(i, isnan(g) ? NAN : 1.0 / 6, 1);
    if (g > 0 && !((double)i - reach >= low && (double)i + reach <= dtype_info[dtype].largest))
        g = NAN;
    return whole(i, g, a.c);
}

/* A float cast to an integer dtype: toward zero; outside of its range undefined. */
static struct val
cut(enum dtype dtype, struct val a, enum kind kind)
{
    double low = dtype == DTYPE_I32 || dtype == DTYPE_I8 ? -dtype_info[dtype].largest - 1 : 0;
    struct val t = val_function(OP_TRUNC, a, kind);

    if (dtype == DTYPE_BOOL)
        return val_compare(OP_NE, a, exact(0), kind);
    if (!(t.v >= low && t.v <= dtype_info[dtype].largest))
        return whole(0, NAN, INFINITY);
    return whole((int64_t)t.v, t.g, t.c);
}

struct val
val_store(enum dtype dtype, struct val a, enum kind kind)
{
    const struct dtype_info *type = &dtype_info[dtype];

    if (!dtype_is_float(dtype))
        return is_whole(kind) ? store_whole(dtype, a) : cut(dtype, a, kind);
    if (is_whole(kind)) {
        a = val_convert(a, kind, type->kind);
        kind = type->kind;
    }
    if (type->roundoff <= arithmetic(kind)->roundoff)
        return a;
    double r = rounding(a.v, 1, type);
    return settle_one((struct val){.v = a.v, .g = root(a.g, r), .c = a.c + r}, a, type);
}
