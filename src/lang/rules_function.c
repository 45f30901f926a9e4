/* The rules of functions: one table of values, slopes and where they are steepest; pow; steps. */
#include "lang/rules_rows_int.h"

#include <assert.h>

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
