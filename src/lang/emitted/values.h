/* The rules of doc/tolerance.md, one function a row, written for speed; rules.c is their
 * definition.
 *
 * A val's g is kept squared where all arithmetic is f32 (so that no rule needs a root); its range
 * then fits easily. Programs with f64 keep g itself. WIDE tells which; only the functions g_*
 * know. */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define INDEX __attribute__((unused)) const int64_t

/* A value and the sizes of its rounding error: g root-mean-square, NaN if it is unjudged (kept
 * squared unless WIDE); c the worst case. */
typedef struct {
    double v, g, c;
} val;

typedef struct { /* of an arithmetic or a dtype: roundoff, smallest normal, largest, lowest */
    double u, tiny, most, least;
} rule;

#define F64 ((rule){0x1p-53, 0x1p-1022, 0x1.fffffffffffffp1023, 0})
#define F32 ((rule){0x1p-24, 0x1p-126, 0x1.fffffep127, 0})
#define F16 ((rule){0x1p-11, 0x1p-14, 65504.0, 0})
#define BF16 ((rule){0x1p-8, 0x1p-126, 0x1.fep127, 0})
#define INT ((rule){0, 0, INFINITY, 0})
#define I32 ((rule){0, 0, 2147483647.0, -2147483648.0})
#define I8 ((rule){0, 0, 127.0, -128.0})
#define U8 ((rule){0, 0, 255.0, 0})
#define BOOL ((rule){0, 0, 1.0, 0})

#if WIDE
static inline double
g_plus(double x, double y)
{
    const double q = x * x + y * y;
    if (q > 1e-280 && q < 1e280)
        return sqrt(q);
    return x != x || y != y ? NAN : hypot(x, y);
}
static inline double
g_times(double factor, double g)
{
    return g == 0 ? 0 : fabs(factor) * g;
}
static inline double
g_size(double g)
{
    return g;
}
static inline double
g_of(double size)
{
    return size;
}
static inline double
g_square(double g)
{
    return g * g;
}
static inline double
g_begun(double s, double n, double b, rule r)
{
    return n == 0 ? 0 : r.u * sqrt(n) * sqrt(fabs(b)) * sqrt(fabs(b) + fabs(s));
}
#else
static inline double
g_plus(double x, double y)
{
    return x + y;
}
static inline double
g_times(double factor, double g)
{
    return g == 0 ? 0 : factor * factor * g;
}
static inline double
g_size(double g)
{
    return sqrt(g);
}
static inline double
g_of(double size)
{
    return size * size;
}
static inline double
g_square(double g)
{
    return g;
}
/* What it adds to a sum s of n terms that a kernel may have begun with b. */
static inline double
g_begun(double s, double n, double b, rule r)
{
    return r.u * r.u * n * fabs(b) * (fabs(b) + fabs(s));
}
#endif

/* |x| <= 12g, and false for a NaN. */
static inline int
g_reaches(double g, double x)
{
#if WIDE
    return fabs(x) <= 12 * g;
#else
    return x * x <= 144 * g;
#endif
}

static inline double
times(double factor, double size)
{
    return size == 0 ? 0 : factor * size;
}

static inline val
exactly(double v)
{
    return (val){v, 0, 0};
}

static inline val
unjudged(double v)
{
    return (val){v, NAN, INFINITY};
}

/* A result below the smallest normal may have been flushed to zero. */
static inline double
rounding(double v, double units, rule r)
{
    const double size = fabs(v);
    return size < r.tiny ? size : units * r.u * size;
}

/* What is common to all rows. infinite: some operand was; judged: all operands were. */
static inline val
settle(double v, double g, double c, int judged, int infinite, rule r)
{
    if (fabs(v) <= r.most && g == g && judged)
        return (val){v, g, c == c ? c : INFINITY};
    if (!judged)
        return unjudged(v);
    if (v != v || (isinf(v) && infinite))
        return exactly(v);
    return unjudged(v);
}

static inline val
settle_one(double v, double g, double c, val a, rule r)
{
    return settle(v, g, c, a.g == a.g, isinf(a.v), r);
}

static inline val
settle_two(double v, double g, double c, val a, val b, rule r)
{
    return settle(v, g, c, a.g == a.g && b.g == b.g, isinf(a.v) || isinf(b.v), r);
}

/* ---- leaves ---- */

static inline val
held(double v, rule r) /* a constant or an integer, as a float of this arithmetic */
{
    if (r.u == 0x1p-53 || (double)(float)v == v || v != v)
        return exactly(v);
    const double size = rounding(v, 1, r);
    return settle(v, g_of(size), size, 1, isinf(v), r);
}

static inline val
convert(val a, rule r)
{
    const val h = held(a.v, r);
    return (val){a.v, g_plus(a.g, h.g), a.c + h.c};
}

static inline val
input(double v, double tiny)
{
    const double size = fabs(v) < tiny ? fabs(v) : 0;
    return (val){v, g_of(size), size};
}

static inline val
load(const double *v, const double *g, const double *c, int64_t at)
{
    return (val){v[at], g_of(g[at]), c[at]};
}

static inline val
read_at(val a, val subscript)
{
    return subscript.g == 0 ? a : unjudged(a.v);
}

/* ---- arithmetic ---- */

static inline val
val_add(val a, val b, rule r)
{
    const double v = a.v + b.v, e = rounding(v, 1, r);
    return settle_two(v, g_plus(g_plus(a.g, b.g), g_of(e)), a.c + b.c + e, a, b, r);
}

static inline val
val_neg(val a, rule r)
{
    (void)r;
    return (val){-a.v, a.g, a.c};
}

static inline val
val_sub(val a, val b, rule r)
{
    return val_add(a, val_neg(b, r), r);
}

static inline val
val_abs(val a, rule r)
{
    (void)r;
    return (val){fabs(a.v), a.g, a.c};
}

/* a is a sum of m terms, b of n; 0: it is none. */
static inline val
val_add_sums(val a, double m, val b, double n, rule r)
{
    const double v = a.v + b.v, e = rounding(v, 1, r);
    const double order = g_plus(g_begun(a.v, m, b.v, r), g_begun(b.v, n, a.v, r));
    const double c = a.c + b.c + e + r.u * (m * (fabs(b.v) + b.c) + n * (fabs(a.v) + a.c));
    return settle_two(v, g_plus(g_plus(g_plus(a.g, b.g), g_of(e)), order), c, a, b, r);
}

static inline int
sign_in_doubt(val infinite, val b, rule r)
{
    const int flushed = b.v != 0 && fabs(b.v) < r.tiny;
    return isinf(infinite.v) && (flushed || (b.g > 0 && g_reaches(b.g, b.v)));
}

static inline val
val_mul(val a, val b, rule r)
{
    const double v = a.v * b.v, e = rounding(v, 1, r);
    const double both = a.g == 0 || b.g == 0 ? 0 : a.g * b.g;
    const double g = g_plus(g_plus(g_times(a.v, b.g), g_times(b.v, a.g)), both);
    const double c = times(fabs(a.v), b.c) + times(fabs(b.v), a.c) + times(a.c, b.c);
    if (sign_in_doubt(a, b, r) || sign_in_doubt(b, a, r))
        return unjudged(v);
    return settle_two(v, g_plus(g, g_of(e)), c + e, a, b, r);
}

static inline val
val_div(val a, val b, rule r)
{
    const double v = a.v / b.v, e = rounding(v, 2, r), size = fabs(b.v);
    if (g_reaches(b.g, b.v))
        return unjudged(v);
    const double g = g_times(1 / size, g_plus(a.g, g_times(v, b.g)));
    const double c = b.c >= size ? INFINITY : (a.c + times(fabs(v), b.c)) / (size - b.c);
    return settle_two(v, g_plus(g, g_of(e)), c + e, a, b, r);
}

static inline int64_t
floor_div(int64_t a, int64_t b)
{
    if (b == 0)
        return 0;
    return b == -1 ? -a : a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static inline int64_t
floor_mod(int64_t a, int64_t b)
{
    return b == 0 || b == -1 ? 0 : a - b * floor_div(a, b);
}

static inline val
val_floor_div(val a, val b, rule r)
{
    const double v = (double)floor_div((int64_t)a.v, (int64_t)b.v), size = fabs(b.v);
    (void)r;
    if (b.v == 0 || g_reaches(b.g, b.v) || b.g != b.g || a.g != a.g)
        return unjudged(v);
    if (a.g == 0 && b.g == 0 && a.c == 0 && b.c == 0)
        return exactly(v);
    const double q = a.v / b.v;
    const double g = g_size(g_plus(a.g, g_times(q, b.g))) / size;
    const double c = b.c >= size ? INFINITY : (a.c + times(fabs(q), b.c)) / (size - b.c);
    return (val){v, g_of(g + 1.0 / 6), c + 1};
}

static inline val
val_floor_mod(val a, val b, rule r)
{
    const double v = (double)floor_mod((int64_t)a.v, (int64_t)b.v);
    (void)r;
    return a.g == 0 && b.g == 0 && b.v != 0 ? exactly(v) : unjudged(v);
}
