/* The rules of doc/tolerance.md, one function a row.
 *
 * Every rounding operation computes v, g and c from the table and hands them to settle(), which
 * holds what is common to all rows: what is unjudged, infinite, NaN or too large.
 */
#include "lang/rules_int.h"

#include "base/num.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- what all rows share ---- */

static bool
is_whole(enum kind kind)
{
    return kind <= KIND_INT;
}

/* Roundoff, smallest normal and largest number of the arithmetic. */
static const struct dtype_info *
arithmetic(enum kind kind)
{
    return &dtype_info[kind == KIND_F64 ? DTYPE_F64 : DTYPE_F32];
}

/* x (+) y. Unlike hypot() it lets a NaN win over an infinity: unjudged stays unjudged. */
static double
root(double x, double y)
{
    return isnan(x) || isnan(y) ? NAN : hypot(x, y);
}

/* A size times a factor; what is exact stays exact, however steep the slope. */
static double
times(double factor, double size)
{
    return size == 0 ? 0 : factor * size;
}

/* `units` roundings of a result v; decision 6: it may have been flushed to zero. */
static double
rounding(double v, double units, const struct dtype_info *type)
{
    double size = fabs(v);

    return size < type->smallest ? size : units * type->roundoff * size;
}

static struct val
exact(double v)
{
    return (struct val){.v = v};
}

struct val
val_unjudged(double v)
{
    return (struct val){.v = v, .g = NAN, .c = INFINITY};
}

/* A float result and its sizes. `infinite`: some operand was; `judged`: all operands were. */
static struct val
settle(struct val a, bool judged, bool infinite, const struct dtype_info *type)
{
    if (!judged)
        return val_unjudged(a.v);
    if (isnan(a.v)) /* decision 7 */
        return exact(a.v);
    if (isinf(a.v) && infinite) /* decision 5 */
        return exact(a.v);
    if (fabs(a.v) > type->largest || isnan(a.g))
        return val_unjudged(a.v);
    if (isnan(a.c)) /* infinity times zero: saturated */
        a.c = INFINITY;
    return a;
}

static struct val
settle_one(struct val result, struct val a, const struct dtype_info *type)
{
    return settle(result, !isnan(a.g), isinf(a.v), type);
}

static struct val
settle_two(struct val result, struct val a, struct val b, const struct dtype_info *type)
{
    return settle(result, !isnan(a.g) && !isnan(b.g), isinf(a.v) || isinf(b.v), type);
}

/* An integer result; g and c come from undecided bools and casts (decision 3). */
static struct val
whole(int64_t i, double g, double c)
{
    if (isnan(g))
        c = INFINITY;
    return (struct val){.v = (double)i, .g = g, .c = c, .i = i};
}

/* ---- leaves ---- */

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

static double
element(enum dtype dtype, const void *data, int64_t at)
{
    switch (dtype) {
    case DTYPE_F64:
        return ((const double *)data)[at];
    case DTYPE_F32:
        return ((const float *)data)[at];
    case DTYPE_F16:
        return num_double_of_half(((const uint16_t *)data)[at]);
    case DTYPE_BF16:
        return num_double_of_bf16(((const uint16_t *)data)[at]);
    case DTYPE_I32:
        return ((const int32_t *)data)[at];
    case DTYPE_I8:
        return ((const int8_t *)data)[at];
    case DTYPE_U8:
    case DTYPE_BOOL:
        return ((const uint8_t *)data)[at];
    case DTYPE_COUNT:
        break;
    }
    assert(!"a dtype");
    return 0;
}

struct val
val_input(enum dtype dtype, const void *data, int64_t at)
{
    double v = element(dtype, data, at);

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

struct val
val_add(struct val a, struct val b, enum kind kind)
{
    if (is_whole(kind))
        return whole((int64_t)((uint64_t)a.i + (uint64_t)b.i), root(a.g, b.g), a.c + b.c);
    const struct dtype_info *type = arithmetic(kind);
    double v = a.v + b.v, r = rounding(v, 1, type);
    struct val sum = {.v = v, .g = root(root(a.g, b.g), r), .c = a.c + b.c + r};

    return settle_two(sum, a, b, type);
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

/* An infinity times something whose sign, or being zero, is not decided. */
static bool
sign_in_doubt(struct val infinite, struct val b)
{
    return isinf(infinite.v) && b.g > 0 && fabs(b.v) <= 12 * b.g;
}

struct val
val_mul(struct val a, struct val b, enum kind kind)
{
    double g = root(times(fabs(a.v), b.g), times(fabs(b.v), a.g));
    double c = times(fabs(a.v), b.c) + times(fabs(b.v), a.c) + times(a.c, b.c);

    if (is_whole(kind))
        return whole((int64_t)((uint64_t)a.i * (uint64_t)b.i), g, c);
    const struct dtype_info *type = arithmetic(kind);
    double v = a.v * b.v, r = rounding(v, 1, type);

    if (sign_in_doubt(a, b) || sign_in_doubt(b, a))
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

/* ---- functions ---- */

enum steepest { /* where |f'| is largest on an interval */
                AT_AN_END,
                AT_ZERO, /* if the interval holds it, else at an end */
                ONE,     /* never more than 1: taken as 1 */
                NO_POLE, /* at an end unless a pole lies between */
};

struct function {
    double (*value)(double);
    double (*slope)(double); /* |f'| */
    enum steepest steepest;
};

static double
rsqrt_value(double x)
{
    return 1 / sqrt(x);
}

static double
sigmoid_value(double x)
{
    return 1 / (1 + exp(-x));
}

static double
softplus_value(double x)
{
    return x > 20 ? x : log1p(exp(x));
}

static double
sqrt_slope(double x)
{
    return x > 0 ? 0.5 / sqrt(x) : INFINITY;
}

static double
rsqrt_slope(double x)
{
    return x > 0 ? 0.5 / (x * sqrt(x)) : INFINITY;
}

static double
exp2_slope(double x)
{
    return exp2(x) * M_LN2;
}

static double
log_slope(double x)
{
    return x > 0 ? 1 / x : INFINITY;
}

static double
log2_slope(double x)
{
    return log_slope(x) / M_LN2;
}

static double
log1p_slope(double x)
{
    return log_slope(1 + x);
}

static double
sin_slope(double x)
{
    return fabs(cos(x));
}

static double
cos_slope(double x)
{
    return fabs(sin(x));
}

static double
tan_slope(double x)
{
    return 1 + tan(x) * tan(x);
}

static double
atan_slope(double x)
{
    return 1 / (1 + x * x);
}

static double
cosh_slope(double x)
{
    return fabs(sinh(x));
}

static double
tanh_slope(double x)
{
    return 1 / (cosh(x) * cosh(x));
}

static double
erf_slope(double x)
{
    return M_2_SQRTPI * exp(-x * x);
}

static double
sigmoid_slope(double x)
{
    double near = exp(-fabs(x));

    return near / ((1 + near) * (1 + near));
}

static double
softplus_slope(double x)
{
    return x > 20 ? 1 : sigmoid_value(x);
}

/* r and s of the rounding stand in op_info. */
static const struct function functions[OP_COUNT] = {
    [OP_SQRT] = {sqrt, sqrt_slope, AT_AN_END},
    [OP_RSQRT] = {rsqrt_value, rsqrt_slope, AT_AN_END},
    [OP_EXP] = {exp, exp, AT_AN_END},
    [OP_EXP2] = {exp2, exp2_slope, AT_AN_END},
    [OP_EXPM1] = {expm1, exp, AT_AN_END},
    [OP_LOG] = {log, log_slope, AT_AN_END},
    [OP_LOG2] = {log2, log2_slope, AT_AN_END},
    [OP_LOG1P] = {log1p, log1p_slope, AT_AN_END},
    [OP_SIN] = {sin, sin_slope, ONE},
    [OP_COS] = {cos, cos_slope, ONE},
    [OP_TAN] = {tan, tan_slope, NO_POLE},
    [OP_ATAN] = {atan, atan_slope, AT_ZERO},
    [OP_SINH] = {sinh, cosh, AT_AN_END},
    [OP_COSH] = {cosh, cosh_slope, AT_AN_END},
    [OP_TANH] = {tanh, tanh_slope, AT_ZERO},
    [OP_ERF] = {erf, erf_slope, AT_ZERO},
    [OP_SIGMOID] = {sigmoid_value, sigmoid_slope, AT_ZERO},
    [OP_SOFTPLUS] = {softplus_value, softplus_slope, AT_AN_END},
};

/* sup |f'| on [low, high]. */
static double
steepest_slope(const struct function *f, double low, double high)
{
    if (f->steepest == ONE)
        return 1;
    if (f->steepest == AT_ZERO && low <= 0 && high >= 0)
        return f->slope(0);
    if (f->steepest == NO_POLE &&
        !(floor(low / M_PI + 0.5) == floor(high / M_PI + 0.5) && isfinite(high - low)))
        return INFINITY;
    return fmax(f->slope(low), f->slope(high));
}

/* Decided to lie where the function has a value. */
static bool
outside_domain(enum op op, struct val a)
{
    switch (op) {
    case OP_LOG:
    case OP_LOG2:
    case OP_RSQRT:
        return a.v <= 12 * a.g;
    case OP_LOG1P:
        return 1 + a.v <= 12 * a.g;
    case OP_SQRT: /* a decided negative is NaN (decision 7); one in doubt may be NaN or not */
        return a.v < 0 && -a.v <= 12 * a.g;
    default:
        return false;
    }
}

/* |f'(a)| ga, where the first order is enough. */
static double
carried(enum op op, struct val a, double v)
{
    double rate = op == OP_EXP ? 1 : op == OP_EXP2 ? M_LN2 : 0;

    if (6 * rate * a.g > 1)
        return v * expm1(6 * rate * a.g) / 6;
    if (op == OP_SQRT && a.g > 0 && a.v <= 12 * a.g)
        return sqrt(6 * a.g) / 6;
    double g = times(functions[op].slope(a.v), a.g);
    if (op == OP_SOFTPLUS && a.g > 0 && fabs(a.v - 20) <= 12 * a.g)
        g += exp(-20) / 6; /* its two formulas differ by this at 20 */
    return g;
}

static double
step_value(enum op op, double x)
{
    switch (op) {
    case OP_FLOOR:
        return floor(x);
    case OP_CEIL:
        return ceil(x);
    case OP_ROUND:
        return rint(x); /* to even */
    case OP_TRUNC:
        return trunc(x);
    default:
        assert(op == OP_SIGN);
        return (x > 0) - (x < 0);
    }
}

/* The largest change of a step function within `reach` of x. */
static double
change(enum op op, double x, double reach)
{
    double at = step_value(op, x);

    return reach == 0 ? 0 : fmax(step_value(op, x + reach) - at, at - step_value(op, x - reach));
}

/* Six times g: one jump if any lies within 12ga; more only if the gate of a itself spans more, so
 * that rounding and then casting is still one jump. */
static double
jumps(enum op op, struct val a)
{
    double one = op == OP_SIGN ? 2 : 1;

    if (isnan(a.g))
        return NAN;
    return fmax(change(op, a.v, 6 * a.g), fmin(change(op, a.v, 12 * a.g), one));
}

static struct val
step(enum op op, struct val a, enum kind kind)
{
    double v = isnan(a.v) ? a.v : step_value(op, a.v);
    struct val result = {.v = v, .g = jumps(op, a) / 6, .c = change(op, a.v, a.c)};

    if (is_whole(kind))
        return whole((int64_t)v, result.g, result.c);
    return settle_one(result, a, arithmetic(kind));
}

struct val
val_function(enum op op, struct val a, enum kind kind)
{
    if (op >= OP_SIGN)
        return step(op, a, kind);
    const struct dtype_info *type = arithmetic(kind);
    const struct function *f = &functions[op];
    assert(f->value);
    double v = f->value(a.v), floor_size = op_info[op].floor * type->roundoff;
    double r = rounding(v, op_info[op].ulps, type);
    struct val result = {.v = v};

    if (outside_domain(op, a))
        return val_unjudged(v);
    result.g = root(root(carried(op, a, v), r), floor_size);
    result.c = times(steepest_slope(f, a.v - a.c, a.v + a.c), a.c) + r + floor_size;
    if (v == 0 && a.v == 0 && a.g == 0)
        result.g = result.c = 0; /* tanh(0) and its like are exact */
    return settle_one(result, a, type);
}

/* sup of |d/da| ca + |d/db| cb on the box; each factor is largest at a corner for a > 0. */
static double
pow_worst(struct val a, struct val b)
{
    double low = fabs(a.v) - a.c, high = fabs(a.v) + a.c;
    double left = b.v - b.c, right = b.v + b.c;
    double power = fmax(fabs(left), fabs(right));

    if (b.c == 0 && b.v == rint(b.v) && b.v >= 1)
        return times(b.v * pow(high, b.v - 1), a.c);
    if (a.c == 0 && b.c == 0)
        return 0;
    if (low <= 0)
        return INFINITY;
    double by_a = fmax(fmax(pow(low, left - 1), pow(low, right - 1)),
                       fmax(pow(high, left - 1), pow(high, right - 1)));
    double by_b =
        fmax(fmax(pow(low, left), pow(low, right)), fmax(pow(high, left), pow(high, right)));
    return times(power * by_a, a.c) + times(by_b * fmax(fabs(log(low)), fabs(log(high))), b.c);
}

/* An exact whole exponent is a product and has a meaning for every base; any other needs a > 0. */
static bool
pow_outside_domain(struct val a, struct val b)
{
    bool product = b.g == 0 && b.v == rint(b.v);

    if (product && b.v >= 0)
        return false;
    return product ? fabs(a.v) <= 12 * a.g : a.v <= 12 * a.g;
}

struct val
val_pow(struct val a, struct val b, enum kind kind)
{
    const struct dtype_info *type = arithmetic(kind);
    double v = pow(a.v, b.v), turn = v == 0 ? 0 : log(fabs(a.v));
    double r = rounding(v, op_info[OP_POW].ulps * (1 + fabs(times(turn, b.v))), type);
    double g = root(times(fabs(b.v * pow(a.v, b.v - 1)), a.g), times(fabs(v * turn), b.g));

    if (pow_outside_domain(a, b))
        return val_unjudged(v);
    return settle_two((struct val){.v = v, .g = root(g, r), .c = pow_worst(a, b) + r}, a, b, type);
}

/* ---- comparison and choice ---- */

static bool
holds(enum op op, struct val a, struct val b, enum kind kind)
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
static bool
decided(struct val a, struct val b)
{
    if (a.g == 0 && b.g == 0)
        return true;
    return fabs(a.v - b.v) > 12 * root(a.g, b.g);
}

struct val
val_compare(enum op op, struct val a, struct val b, enum kind kind)
{
    int64_t truth = holds(op, a, b, kind);

    if (isnan(a.g) || isnan(b.g) || isnan(a.v) || isnan(b.v))
        return whole(truth, NAN, INFINITY);
    return decided(a, b) ? val_integer(truth) : whole(truth, 1.0 / 6, 1);
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

/* The winner and how far another could rise above it. `sign` is 1 for max, -1 for min. */
static struct val
winner(struct val best, double reach_g, double reach_c, double sign)
{
    if (isinf(best.v))
        return exact(best.v);
    best.g = fmax(best.g, (reach_g - sign * best.v) / 6);
    best.c = fmax(best.c, reach_c - sign * best.v);
    return best;
}

struct val
val_extreme(enum op op, struct val a, struct val b, enum kind kind)
{
    struct val_reduction r;

    val_begin(&r, op == OP_MAX ? REDUCE_MAX : REDUCE_MIN, kind, NULL);
    val_term(&r, a);
    val_term(&r, b);
    return val_end(&r);
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
    struct val t = step(OP_TRUNC, a, kind);

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

/* ---- reductions ---- */

static double
direction(enum reduction reduction)
{
    return reduction == REDUCE_MIN || reduction == REDUCE_ARGMIN ? -1 : 1;
}

void
val_begin(struct val_reduction *r, enum reduction reduction, enum kind kind, struct val *terms)
{
    memset(r, 0, sizeof *r);
    r->reduction = reduction;
    r->kind = kind;
    r->terms = terms;
    r->best = -1;
    r->reach_g = r->reach_c = -INFINITY;
    r->grown = r->shrunk = 1;
    if (reduction == REDUCE_PROD)
        r->total = val_integer(1);
}

static void
add_term(struct val_reduction *r, struct val t)
{
    r->total.v += t.v;
    r->total.i = (int64_t)((uint64_t)r->total.i + (uint64_t)t.i);
    r->total.c += t.c;
    r->roundings += t.g * t.g;
    if (isfinite(t.v)) {
        r->squares += t.v * t.v;
        r->sizes += fabs(t.v);
    }
}

static void
multiply_term(struct val_reduction *r, struct val t)
{
    double size = fabs(t.v);

    r->total = val_mul(r->total, t, r->kind);
    if (size > 1 && isfinite(size))
        r->grown *= size;
    else if (size < 1)
        r->shrunk *= size;
}

static bool
beats(struct val a, struct val b, enum reduction reduction, enum kind kind)
{
    return holds(direction(reduction) > 0 ? OP_GT : OP_LT, a, b, kind);
}

static void
compare_term(struct val_reduction *r, struct val t)
{
    double height = direction(r->reduction) * t.v;

    if (r->count == 0 || beats(t, r->total, r->reduction, r->kind))
        r->total = t;
    r->reach_g = fmax(r->reach_g, height + 6 * t.g);
    r->reach_c = fmax(r->reach_c, height + t.c);
}

static void
race_term(struct val_reduction *r, struct val t)
{
    if (r->best < 0 || beats(t, r->terms[r->best], r->reduction, r->kind))
        r->best = r->term_count;
    r->terms[r->term_count++] = t;
}

void
val_term(struct val_reduction *r, struct val t)
{
    bool ordered = r->reduction >= REDUCE_MAX;

    if (ordered && isnan(t.v)) /* decision 7 */
        t.g = NAN;
    r->unjudged |= isnan(t.g);
    r->infinite |= isinf(t.v);
    switch (r->reduction) {
    case REDUCE_SUM:
    case REDUCE_MEAN:
        add_term(r, t);
        break;
    case REDUCE_PROD:
        multiply_term(r, t);
        break;
    case REDUCE_MAX:
    case REDUCE_MIN:
        compare_term(r, t);
        break;
    default:
        race_term(r, t);
    }
    r->count++;
}

void
val_drop(struct val_reduction *r)
{
    if (r->reduction >= REDUCE_ARGMAX)
        r->terms[r->term_count++] = (struct val){.v = NAN};
}

void
val_doubt(struct val_reduction *r)
{
    r->unjudged = true;
    if (r->reduction >= REDUCE_ARGMAX)
        r->terms[r->term_count - 1].g = NAN;
}

/* The row "sum": honest kernels add in any order, of which the table takes the mean. */
static struct val
end_sum(const struct val_reduction *r)
{
    const struct dtype_info *type = arithmetic(r->kind);
    double n = (double)r->count, s = r->total.v, q = r->squares, u = type->roundoff;

    if (is_whole(r->kind))
        return whole(r->total.i, r->unjudged ? NAN : sqrt(r->roundings), r->total.c);
    if (r->count == 0)
        return exact(0);
    double spread = fmax(q - s * s / n, 0);
    double walk = q + s * s * (n + 1) * (2 * n + 1) / (6 * n) + (n + 1) * spread / 6;
    double flushed = fabs(s) < type->smallest ? fabs(s) : 0;
    struct val sum = {.v = s};
    sum.g = root(sqrt(r->roundings + u * u * walk), flushed);
    sum.c = r->total.c + n * u * (r->sizes + r->total.c) + flushed;
    if (r->sizes > type->largest) /* decision 5: another order could overflow */
        return val_unjudged(s);
    return settle(sum, true, r->infinite, type);
}

static struct val
end_mean(const struct val_reduction *r)
{
    struct val count = val_convert(val_integer(r->count), KIND_INT, r->kind);

    count.i = r->count;
    return val_div(end_sum(r), count, r->kind);
}

static struct val
end_product(const struct val_reduction *r)
{
    const struct dtype_info *type = arithmetic(r->kind);

    if (is_whole(r->kind))
        return r->total;
    bool leaves = r->grown > type->largest || (r->shrunk < type->smallest && r->shrunk > 0);
    return leaves ? val_unjudged(r->total.v) : r->total;
}

/* The integers of an expression have 64 bits, but all that is stored fits i32: its ends. */
static struct val
end_extreme(const struct val_reduction *r)
{
    double sign = direction(r->reduction);

    if (r->count > 0)
        return winner(r->total, r->reach_g, r->reach_c, sign);
    if (is_whole(r->kind))
        return val_integer(sign > 0 ? INT32_MIN : INT32_MAX);
    return exact(-sign * INFINITY);
}

/* Decision 4: decided if no other term could win. */
static struct val
end_race(const struct val_reduction *r)
{
    bool sure = true;

    for (int64_t k = 0; k < r->term_count && sure; k++)
        if (k != r->best && !isnan(r->terms[k].v))
            sure = decided(r->terms[k], r->terms[r->best]);
    return whole(r->best, sure ? 0 : NAN, 0);
}

struct val
val_end(struct val_reduction *r)
{
    struct val end;

    if (r->reduction == REDUCE_SUM)
        end = end_sum(r);
    else if (r->reduction == REDUCE_MEAN)
        end = end_mean(r);
    else if (r->reduction == REDUCE_PROD)
        end = end_product(r);
    else if (r->reduction <= REDUCE_MIN)
        end = end_extreme(r);
    else
        end = end_race(r);
    if (r->unjudged)
        end.g = NAN, end.c = INFINITY;
    return end;
}
