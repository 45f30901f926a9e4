/* ---- functions: slope |f'(a)|, steepest its largest value on [a-c, a+c] ---- */

static inline val
function(double v, double slope, double steepest, double units, double floor_units, val a, rule r)
{
    const double e = rounding(v, units, r), s = floor_units * r.u;
    double g = g_plus(g_plus(g_times(slope, a.g), g_of(e)), g_of(s));
    double c = times(steepest, a.c) + e + s;
    if (v == 0 && a.v == 0 && a.g == 0)
        g = c = 0;
    return settle_one(v, g, c, a, r);
}

/* exp and exp2, where the first order is not enough: slope v*rate. */
static inline double
exp_slope(double v, double rate, val a)
{
    const double reach = 6 * rate * g_size(a.g);
    return reach > 1 ? v * expm1(reach) / reach * rate : v * rate;
}
static inline val
val_exp(val a, rule r)
{
    const double v = exp(a.v);
    return function(v, exp_slope(v, 1, a), a.c == 0 ? v : exp(a.v + a.c), 4, 0, a, r);
}
static inline val
val_exp2(val a, rule r)
{
    const double v = exp2(a.v);
    return function(v, exp_slope(v, M_LN2, a), exp2(a.v + a.c) * M_LN2, 4, 0, a, r);
}
static inline val
val_expm1(val a, rule r)
{
    return function(expm1(a.v), exp(a.v), exp(a.v + a.c), 4, 0, a, r);
}
static inline double
inverse(double x)
{
    return x > 0 ? 1 / x : INFINITY;
}
static inline val
val_log(val a, rule r)
{
    if (a.v <= 0 || g_reaches(a.g, a.v))
        return unjudged(log(a.v));
    return function(log(a.v), inverse(a.v), inverse(a.v - a.c), 4, 0, a, r);
}
static inline val
val_log2(val a, rule r)
{
    if (a.v <= 0 || g_reaches(a.g, a.v))
        return unjudged(log2(a.v));
    return function(log2(a.v), inverse(a.v) / M_LN2, inverse(a.v - a.c) / M_LN2, 4, 0, a, r);
}
static inline val
val_log1p(val a, rule r)
{
    if (1 + a.v <= 0 || g_reaches(a.g, 1 + a.v))
        return unjudged(log1p(a.v));
    return function(log1p(a.v), inverse(1 + a.v), inverse(1 + (a.v - a.c)), 4, 0, a, r);
}
static inline val
val_sqrt(val a, rule r)
{
    const double v = sqrt(a.v), low = a.v - a.c;
    const double steepest = low > 0 ? 0.5 / sqrt(low) : INFINITY;
    if (a.g > 0 && (a.v <= 0 || g_reaches(a.g, a.v))) {
        if (a.v < 0 && g_reaches(a.g, a.v))
            return unjudged(v);
        const double g = sqrt(6 * g_size(a.g)) / 6, e = rounding(v, 1, r);
        return settle_one(v, g_plus(g_of(g), g_of(e)), times(steepest, a.c) + e, a, r);
    }
    return function(v, a.v > 0 ? 0.5 / v : INFINITY, steepest, 1, 0, a, r);
}
static inline val
val_rsqrt(val a, rule r)
{
    const double root = sqrt(a.v), low = a.v - a.c;
    if (a.v <= 0 || g_reaches(a.g, a.v))
        return unjudged(1 / root);
    return function(1 / root, 0.5 / (a.v * root), low > 0 ? 0.5 / (low * sqrt(low)) : INFINITY, 4,
                    0, a, r);
}
static inline val
val_sin(val a, rule r)
{
    return function(sin(a.v), a.g == 0 ? 0 : fabs(cos(a.v)), 1, 4, 2, a, r);
}
static inline val
val_cos(val a, rule r)
{
    return function(cos(a.v), a.g == 0 ? 0 : fabs(sin(a.v)), 1, 4, 2, a, r);
}
static inline val
val_tan(val a, rule r)
{
    const double v = tan(a.v), low = a.v - a.c, high = a.v + a.c;
    double steepest = INFINITY;
    if (floor(low / M_PI + 0.5) == floor(high / M_PI + 0.5) && isfinite(high - low))
        steepest = 1 + fmax(tan(low) * tan(low), tan(high) * tan(high));
    return function(v, 1 + v * v, steepest, 4, 0, a, r);
}
/* The point of [a-c, a+c] nearest to 0. */
static inline double
nearest(val a)
{
    const double size = fabs(a.v) - a.c;
    return size > 0 ? size : 0;
}
static inline double
atan_slope(double x)
{
    return 1 / (1 + x * x);
}
static inline val
val_atan(val a, rule r)
{
    return function(atan(a.v), atan_slope(a.v), atan_slope(nearest(a)), 4, 0, a, r);
}
static inline val
val_sinh(val a, rule r)
{
    return function(sinh(a.v), cosh(a.v), cosh(fabs(a.v) + a.c), 4, 0, a, r);
}
static inline val
val_cosh(val a, rule r)
{
    return function(cosh(a.v), sinh(fabs(a.v)), sinh(fabs(a.v) + a.c), 4, 0, a, r);
}
static inline double
tanh_slope(double x)
{
    return 1 / (cosh(x) * cosh(x));
}
static inline val
val_tanh(val a, rule r)
{
    return function(tanh(a.v), a.g == 0 ? 0 : tanh_slope(a.v),
                    a.c == 0 ? 0 : tanh_slope(nearest(a)), 4, 2, a, r);
}
static inline double
erf_slope(double x)
{
    return M_2_SQRTPI * exp(-x * x);
}
static inline val
val_erf(val a, rule r)
{
    return function(erf(a.v), a.g == 0 ? 0 : erf_slope(a.v), a.c == 0 ? 0 : erf_slope(nearest(a)),
                    4, 2, a, r);
}
static inline double
sigmoid_slope(double x)
{
    const double near = exp(-fabs(x));
    return near / ((1 + near) * (1 + near));
}
static inline double
sigmoid_f64(double x)
{
    return 1 / (1 + exp(-x));
}
static inline val
val_sigmoid(val a, rule r)
{
    return function(sigmoid_f64(a.v), a.g == 0 ? 0 : sigmoid_slope(a.v),
                    a.c == 0 ? 0 : sigmoid_slope(nearest(a)), 2, 0, a, r);
}
static inline double
softplus_slope(double x)
{
    return x > 20 ? 1 : sigmoid_f64(x);
}
static inline val
val_softplus(val a, rule r)
{
    const double v = a.v > 20 ? a.v : log1p(exp(a.v));
    const double steepest = fmax(softplus_slope(a.v - a.c), softplus_slope(a.v + a.c));
    if (a.g > 0 && g_reaches(a.g, a.v - 20)) {
        const double g = g_size(g_times(softplus_slope(a.v), a.g)) + exp(-20) / 6;
        const double e = rounding(v, 4, r);
        return settle_one(v, g_plus(g_of(g), g_of(e)), times(steepest, a.c) + e, a, r);
    }
    return function(v, softplus_slope(a.v), steepest, 4, 0, a, r);
}

static double
pow_worst(val a, val b)
{
    const double low = fabs(a.v) - a.c, high = fabs(a.v) + a.c;
    const double left = b.v - b.c, right = b.v + b.c;
    const double power = fmax(fabs(left), fabs(right));
    if (b.c == 0 && b.v == rint(b.v) && b.v >= 1)
        return times(b.v * pow(high, b.v - 1), a.c);
    if (a.c == 0 && b.c == 0)
        return 0;
    if (low <= 0)
        return INFINITY;
    const double by_a = fmax(fmax(pow(low, left - 1), pow(low, right - 1)),
                             fmax(pow(high, left - 1), pow(high, right - 1)));
    const double by_b =
        fmax(fmax(pow(low, left), pow(low, right)), fmax(pow(high, left), pow(high, right)));
    return times(power * by_a, a.c) + times(by_b * fmax(fabs(log(low)), fabs(log(high))), b.c);
}

static inline val
val_pow(val a, val b, rule r)
{
    const double v = pow(a.v, b.v), turn = v == 0 ? 0 : log(fabs(a.v));
    const double e = rounding(v, 4 * (1 + fabs(times(turn, b.v))), r);
    const int product = b.g == 0 && b.v == rint(b.v);
    const double by_a = a.g == 0 ? 0 : b.v * pow(a.v, b.v - 1);
    const double g = g_plus(g_times(by_a, a.g), g_times(v * turn, b.g));
    if (!(product && b.v >= 0) && ((!product && a.v <= 0) || g_reaches(a.g, a.v)))
        return unjudged(v);
    return settle_two(v, g_plus(g, g_of(e)), pow_worst(a, b) + e, a, b, r);
}

/* ---- steps ---- */

/* One jump if any lies within 12g; more only if 6g itself spans more. */
#define STEP(name, f, one)                                                                      \
    static inline double change_##name(double v, double x, double reach)                        \
    {                                                                                           \
        return reach == 0 ? 0 : fmax(f(x + reach) - v, v - f(x - reach));                       \
    }                                                                                           \
    static inline val val_##name(val a, rule r)                                                 \
    {                                                                                           \
        const double v = a.v != a.v ? a.v : f(a.v), size = g_size(a.g);                         \
        if (a.g == 0 && a.c == 0)                                                               \
            return exactly(v);                                                                  \
        const double g =                                                                        \
            fmax(change_##name(v, a.v, 6 * size), fmin(change_##name(v, a.v, 12 * size), one)); \
        return settle_one(v, g_of(g / 6), change_##name(v, a.v, a.c), a, r);                    \
    }
STEP(floor, floor, 1)
STEP(ceil, ceil, 1)
STEP(round, rint, 1)
STEP(trunc, trunc, 1)
STEP(sign, sign_f64, 2)
