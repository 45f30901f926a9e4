/* hone.h against libm in double, against the language's own conversions and against guard pages: at
 * every width, on this machine's instructions, on the portable forms and under -ffast-math. */
#include "target_unit.h"

#include <dlfcn.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define MOST_LANES 16

/* ---- the builds ---- */

struct side {
    const char *name, *flags;
    bool fast;  /* -ffast-math: no NaN, and a looser limit */
    bool light; /* without the right instructions, slow: fewer samples */
    void *object;
    int bytes;
};

static struct side sides[] = {
    {.name = "w64", .flags = "-O2 -march=native -DHONE_VECTOR_BYTES=64", .light = true},
    {.name = "w32", .flags = "-O2 -march=native -DHONE_VECTOR_BYTES=32"},
    {.name = "w16", .flags = "-O2 -march=native -DHONE_VECTOR_BYTES=16"},
    {.name = "own", .flags = "-O2 -march=native -ffp-contract=off"},
#ifdef __x86_64__
    {.name = "old", .flags = "-O2 -march=x86-64", .light = true},
#endif
    {.name = "fast", .flags = "-O3 -march=native -ffast-math", .fast = true},
};

#define SIDES (sizeof sides / sizeof *sides)
#define OWN 3

static const char shell[] =
    "gcc -std=gnu17 -Wall -Wextra -Werror -fno-math-errno -fPIC -shared -nostartfiles -I. ";

/* All at once; and, where it can only be compiled, for AVX-512. */
static void
build_sides(struct unit *unit)
{
    struct buf script = buf_in(unit->arena);
    const char *source = project(unit, "tests/unit/target_hone_h_side.h");

    write_text(unit, "hone.h", cpu()->files[0].text);
    for (size_t i = 0; i < SIDES; i++)
        buf_printf(&script, "%s %s -xc %s -o %s.so -lm & p%zu=$!\n", shell, sides[i].flags, source,
                   sides[i].name, i);
#ifdef __x86_64__
    buf_printf(&script, "%s -O1 -march=skylake-avx512 -c -xc %s -o w.o || exit 1\n", shell, source);
#endif
    for (size_t i = 0; i < SIDES; i++)
        buf_printf(&script, "wait $p%zu || exit 1\n", i);
    const char *const argv[] = {"sh", "-c", script.data, NULL};
    ran(unit, argv);
}

static void *
symbol(const struct side *side, const char *name)
{
    void *found = dlsym(side->object, name);

    if (!found)
        fail_msg("%s: %s", side->name, dlerror());
    return found;
}

static void *
symbol_of(const struct side *side, const char *prefix, const char *name)
{
    char whole[64];

    snprintf(whole, sizeof whole, "side_%s%s", prefix, name);
    return symbol(side, whole);
}

static int
open_sides(void **state)
{
    struct unit *unit;

    if (scratch_setup(state) != 0)
        return -1;
    unit = *state;
    build_sides(unit);
    for (size_t i = 0; i < SIDES; i++) {
        sides[i].object = dlopen(arena_printf(unit->arena, "./%s.so", sides[i].name), RTLD_NOW);
        if (!sides[i].object)
            fail_msg("%s", dlerror());
        sides[i].bytes = *(const int *)symbol(&sides[i], "side_bytes");
    }
    return 0;
}

static int
close_sides(void **state)
{
    for (size_t i = 0; i < SIDES; i++) {
        if (!sides[i].object)
            return 0; /* the set-up failed: the working folder may be anybody's */
        dlclose(sides[i].object);
    }
    return scratch_teardown(state);
}

/* ---- samples ---- */

typedef void (*map1)(const float *x, float *y, size_t n);
typedef void (*map2)(const float *a, const float *b, float *y, size_t n);

static const float special[] = {
    0.0f,       -0.0f,  INFINITY, -INFINITY, NAN,        1.0f,       -1.0f,     0.5f,      -0.5f,
    2.0f,       -2.0f,  3.0f,     -3.0f,     2.5f,       -2.5f,      0x1p-126f, 0x1p-149f, 20.0f,
    -0x1p-149f, 1e-40f, -1e-40f,  0x1p23f,   0x1p24f,    -0x1p24f,   0x1p31f,   -0x1p31f,  0x1p127f,
    1e30f,      -1e30f, 16777215, -16777215, 8388607.5f, 0.49999997f};

#define SPECIALS (sizeof special / sizeof *special)

/* Where the functions change their ways: all floats around these are tried, of both signs. */
static const float edges[] = {0x1p-126f, 0x1p-12f, 0.3465736f,  0.625f,     0.70710678f, 0.925f,
                              1.0f,      1.0397f,  1.41421356f, 1.5707964f, 3.1415927f,  4.0f,
                              10.0f,     17.32f,   20.0f,       87.336544f, 88.722839f,  89.415986f,
                              103.97f,   126.0f,   128.0f,      149.0f,     1048576.0f,  0x1p127f};

#define EDGES (sizeof edges / sizeof *edges)

struct samples {
    float *x, *y;
    double *want;
    size_t count; /* a multiple of MOST_LANES */
};

static void
add_bits(struct samples *s, uint32_t bits)
{
    memcpy(&s->x[s->count++], &bits, sizeof bits);
}

/* Every step-th float there is, `near` on both sides of every edge, and the special ones. */
static struct samples
draw(struct arena *arena, uint32_t step, uint32_t near)
{
    size_t most = UINT32_MAX / step + 4 * EDGES * near + SPECIALS + 2 * MOST_LANES;
    struct samples s = {arena_array(arena, most, sizeof(float)),
                        arena_array(arena, most, sizeof(float)),
                        arena_array(arena, most, sizeof(double)), 0};

    for (uint64_t bits = 0; bits >> 32 == 0; bits += step)
        add_bits(&s, (uint32_t)bits);
    for (size_t i = 0; i < EDGES; i++) {
        uint32_t bits;
        memcpy(&bits, &edges[i], sizeof bits);
        for (uint32_t k = 0; k < 2 * near; k++) {
            add_bits(&s, bits - near + k);
            add_bits(&s, (bits - near + k) ^ 0x80000000);
        }
    }
    for (size_t i = 0; i < SPECIALS; i++)
        s.x[s.count++] = special[i];
    while (s.count % MOST_LANES)
        s.x[s.count++] = 1;
    assert_true(s.count <= most);
    return s;
}

/* ---- accuracy ---- */

static double
ulps(double got, double want)
{
    int exponent;

    frexp(want, &exponent);
    return fabs(got - want) / ldexp(1, exponent - 24);
}

/* In ulps; INFINITY for what is wrong without a distance. Results below the smallest normal may be
 * flushed; one that overflows only by its last digits may also be the largest float. */
static double
error_of(float got, double want)
{
    const double size = fabs(want);

    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : INFINITY;
    if (isinf((float)want) || isinf(got))
        return (float)want == got || (size > 0x1.fffffcp127 && size < 0x1.000002p128) ? 0
                                                                                      : INFINITY;
    if (size < 0x1p-126)
        return fabs(got - want) <= 0x1p-126 ? 0 : INFINITY;
    return ulps(got, want);
}

static double
sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}
static double
softplus(double x)
{
    return x > 20 ? x : log1p(exp(x));
}
static double
rsqrt(double x)
{
    return 1 / sqrt(x);
}
static double
sign(double x)
{
    return (x > 0) - (x < 0);
}

/* limit: in ulps, as doc/hone_h.md promises; 0: the very number. */
static const struct function {
    const char *name;
    double (*in_double)(double x);
    double limit;
} functions[] = {
    {"exp", exp, 1.1},         {"exp2", exp2, 1.1},
    {"expm1", expm1, 1.8},     {"log", log, 1.1},
    {"log2", log2, 2.1},       {"log1p", log1p, 1.1},
    {"sin", sin, 1.7},         {"cos", cos, 1.7},
    {"tan", tan, 1.5},         {"atan", atan, 1.3},
    {"sinh", sinh, 1.7},       {"cosh", cosh, 1.6},
    {"tanh", tanh, 2.5},       {"erf", erf, 3.0},
    {"sigmoid", sigmoid, 2.4}, {"softplus", softplus, 2.8},
    {"sqrt", sqrt, 0.501},     {"rsqrt", rsqrt, 1.501},
    {"abs", fabs, 0},          {"sign", sign, 0},
    {"floor", floor, 0},       {"ceil", ceil, 0},
    {"round", rint, 0},        {"trunc", trunc, 0},
};

#define FUNCTIONS (sizeof functions / sizeof *functions)
#define FAST_LIMIT 4.0 /* division and square root themselves lose some under -ffast-math */

/* Does this result count? -ffast-math promises nothing about NaN; but infinities, which the judge
 * wants to stay infinite, are right even there. But division by zero is gcc's own. */
static bool
counts(const struct side *side, const struct function *function, float x, double want)
{
    if (!side->fast)
        return true;
    if (function->in_double == rsqrt)
        return isfinite(x) && isfinite(want);
    return !isnan(x) && !isnan(want);
}

static void
check_function(const struct side *side, const struct function *function, struct samples *s)
{
    double limit = side->fast && function->limit > 0 ? FAST_LIMIT : function->limit, worst = 0;
    float at = 0;

    ((map1)symbol_of(side, "", function->name))(s->x, s->y, s->count);
    for (size_t i = 0; i < s->count; i++) {
        const bool same = s->y[i] == s->want[i] || (isnan(s->y[i]) && isnan(s->want[i]));
        double error = function->limit > 0 ? error_of(s->y[i], s->want[i]) : same ? 0 : INFINITY;
        if (error > worst && counts(side, function, s->x[i], s->want[i]))
            worst = error, at = s->x[i];
    }
    if (getenv("HONE_SHOW"))
        printf("# %-5s %-9s %.3f ulp at %a\n", side->name, function->name, worst, (double)at);
    if (worst > limit)
        fail_msg("%s: %s(%a) is off by %.3f ulp; at most %.2f", side->name, function->name,
                 (double)at, worst, limit);
}

/* HONE_SHOW=1 in the environment prints the table for the manual. */
static void
functions_are_as_accurate_as_promised(void **state)
{
    struct unit *unit = *state;
    struct samples all = draw(unit->arena, 16411, 300), few = draw(unit->arena, 131101, 50);

    for (size_t f = 0; f < FUNCTIONS; f++) {
        for (size_t i = 0; i < all.count; i++)
            all.want[i] = functions[f].in_double(all.x[i]);
        for (size_t i = 0; i < few.count; i++)
            few.want[i] = functions[f].in_double(few.x[i]);
        for (size_t i = 0; i < SIDES; i++)
            check_function(&sides[i], &functions[f], sides[i].light ? &few : &all);
    }
}

/* What is zero at zero has its sign. */
static void
zeros_keep_their_sign(void **state)
{
    static const char *const odd[] = {"expm1", "log1p", "sin",   "tan",  "atan",  "sinh", "tanh",
                                      "erf",   "sqrt",  "floor", "ceil", "round", "trunc"};
    float x[MOST_LANES], y[MOST_LANES];

    (void)state;
    for (size_t i = 0; i < MOST_LANES; i++)
        x[i] = i % 2 ? -0.0f : 0.0f;
    for (size_t i = 0; i < SIDES; i++)
        for (size_t f = 0; f < sizeof odd / sizeof *odd && !sides[i].fast; f++) {
            ((map1)symbol_of(&sides[i], "", odd[f]))(x, y, MOST_LANES);
            if (memcmp(x, y, sizeof x) != 0)
                fail_msg("%s: %s of zero", sides[i].name, odd[f]);
        }
}

/* ---- two and three arguments ---- */

static double
pick_max(double a, double b)
{
    return a > b ? a : b;
}
static double
pick_min(double a, double b)
{
    return a < b ? a : b;
}

static void
check_pairs(const struct side *side, const char *name, double (*in_double)(double, double),
            const float *a, const float *b, size_t count, bool exact)
{
    float y[MOST_LANES];

    for (size_t i = 0; i < count; i += MOST_LANES) {
        ((map2)symbol_of(side, "", name))(a + i, b + i, y, MOST_LANES);
        for (size_t k = 0; k < MOST_LANES; k++) {
            const float x = a[i + k], z = b[i + k];
            const double want = in_double(x, z);
            const bool same_sign = !signbit(want) == !signbit(y[k]) || isnan(want) || side->fast;
            const bool right = exact ? y[k] == want || (isnan(want) && isnan(y[k]))
                                     : error_of(y[k], want) <= (side->fast ? FAST_LIMIT : 0.6);
            const bool plain = isfinite(x) && isfinite(z) && isfinite((float)want);
            if ((plain || !side->fast) && !(right && same_sign))
                fail_msg("%s: %s(%a, %a) is %a, not %a", side->name, name, (double)x, (double)z,
                         (double)y[k], want);
        }
    }
}

/* Every special number with every other; then all sizes, with exponents that keep within range. */
static void
two_arguments(void **state)
{
    enum { RANDOM = 200000 };
    struct arena *arena = ((struct unit *)*state)->arena;
    const size_t most = SPECIALS * SPECIALS + RANDOM + 2 * MOST_LANES;
    float *a = arena_array(arena, most, sizeof *a), *b = arena_array(arena, most, sizeof *b);
    size_t count = 0, pairs;
    uint32_t seed = 1;

    for (; count < SPECIALS * SPECIALS; count++)
        a[count] = special[count / SPECIALS], b[count] = special[count % SPECIALS];
    count += (MOST_LANES - count % MOST_LANES) % MOST_LANES; /* zeros */
    pairs = count;
    for (; count < pairs + RANDOM; count++) {
        const uint32_t bits = seed >> 1;
        memcpy(&a[count], &bits, sizeof bits);
        seed = seed * 1664525 + 1013904223;
        if (count % 3 == 0)
            a[count] = (float)(seed >> 8) * 0x1p-20f;
        b[count] = (float)((int32_t)seed >> 8) * 0x1p-23f * 150 / (fabsf(log2f(a[count])) + 0.01f);
        if (count % 5 == 0)
            a[count] = -a[count], b[count] = rintf(b[count]);
    }
    for (size_t i = 0; i < SIDES; i++) {
        check_pairs(&sides[i], "pow", pow, a, b, sides[i].light ? pairs + 20000 : count, false);
        check_pairs(&sides[i], "max", pick_max, a, b, pairs, true);
        check_pairs(&sides[i], "min", pick_min, a, b, pairs, true);
        check_pairs(&sides[i], "copysign", copysign, a, b, pairs, true);
    }
}

/* y is the third argument. */
static void
three_arguments(void **state)
{
    const float a[MOST_LANES] = {0x1.000002p0f, 3, -1, 1e30f, 7, 0x1.fffffep0f},
                b[MOST_LANES] = {0x1.000002p0f, 5, 2, 1e-30f, 9, 0x1.fffffep0f};
    float y[MOST_LANES], z[MOST_LANES];

    (void)state;
    for (size_t s = 0; s < SIDES; s++) {
        for (int i = 0; i < MOST_LANES; i++)
            y[i] = a[i] * b[i], z[i] = i % 3 ? 1.0f : -1.0f;
        ((map2)symbol_of(&sides[s], "", "fma"))(a, b, y, MOST_LANES);
        ((map2)symbol_of(&sides[s], "", "select"))(a, b, z, MOST_LANES);
        for (int i = 0; i < MOST_LANES; i++) {
            assert_true(y[i] == (float)((double)a[i] * b[i] - (double)(a[i] * b[i])));
            assert_true(z[i] == (i % 3 ? a[i] : b[i]));
        }
        ((map1)symbol_of(&sides[s], "", "wide"))(a, y, MOST_LANES);
        for (int i = 0; i < MOST_LANES; i++)
            assert_true(y[i] == (float)(3.0 * a[i]));
    }
}

static void
comparisons_choose(void **state)
{
    static const char *const names[] = {"if_lt", "if_le", "if_gt", "if_ge", "if_eq", "if_ne"};
    float a[MOST_LANES], b[MOST_LANES], y[MOST_LANES];

    (void)state;
    for (size_t s = 0; s < SIDES; s++)
        for (unsigned c = 0; c < 6; c++) {
            for (int i = 0; i < MOST_LANES; i++)
                a[i] = (float)(i % 3), b[i] = i % 7 == 6 && !sides[s].fast ? NAN : 1, y[i] = -5;
            ((map2)symbol_of(&sides[s], "", names[c]))(a, b, y, MOST_LANES);
            for (int i = 0; i < MOST_LANES; i++) {
                const bool holds[] = {a[i]<b[i], a[i] <= b[i], a[i]> b[i], a[i] >= b[i],
                                      a[i] == b[i], a[i] != b[i]};
                assert_true(y[i] == (holds[c] ? 1 : -5));
            }
        }
}

/* ---- doubles and integers ---- */

static void
functions_of_doubles(void **state)
{
    static const double x[] = {0,    -0.5,  0.25, 1,     3.75,    -2.5, 1e5,   0.875,
                               20.5, -7.25, 1e-9, 1e300, -1e-300, 2.5,  0.125, 19};
    double y[MOST_LANES];

    (void)state;
    for (size_t s = 0; s < SIDES; s++)
        for (size_t f = 0; f < FUNCTIONS; f++) {
            void (*map)(const double *, double *, size_t) =
                symbol_of(&sides[s], "f64_", functions[f].name);
            map(x, y, MOST_LANES);
            for (size_t i = 0; i < MOST_LANES; i++) {
                const double want = functions[f].in_double(x[i]);
                const double off = fabs(y[i] - want), room = sides[s].fast ? 0x1p-50 : 0;
                if (isfinite(want) && !(off <= room * fabs(want)))
                    fail_msg("%s: f64 %s(%a)", sides[s].name, functions[f].name, x[i]);
            }
        }
}

static void
check_f64(const struct side *side)
{
    const double a[8] = {1, -2, 3, 0.5, 5, 6, -7, 8}, b[8] = {2, -3, 1, 4, 5, -6, 7, 0};
    double y[48], sums[8], lasts[8], over[4], total = 0, product = 1;
    const int n = side->bytes / 8;
    void (*pairs)(const double *, const double *, double *) = symbol(side, "side_f64_pairs");
    void (*reduce)(const double *, double *) = symbol(side, "side_f64_over");
    void (*scan)(const double *, double *, size_t) = symbol(side, "side_f64_scan_add");
    void (*last)(const double *, double *, size_t) = symbol(side, "side_f64_last");

    pairs(a, b, y);
    reduce(a, over);
    scan(a, sums, (size_t)n);
    last(a, lasts, (size_t)n);
    for (int i = 0; i < n; i++) {
        total += a[i], product *= a[i];
        assert_true(sums[i] == total && lasts[i] == a[n - 1]);
        assert_true(y[i] == fmax(a[i], b[i]) && y[n + i] == fmin(a[i], b[i]));
        assert_true(y[2 * n + i] == copysign(a[i], b[i]));
        assert_true(y[3 * n + i] == (a[i] < b[i] ? a[i] : 7));
        assert_true(fabs(y[4 * n + i] - pow(a[i], b[i])) <= 0x1p-50 * fabs(pow(a[i], b[i])));
        assert_true(y[5 * n + i] == i);
    }
    assert_true(over[0] == total && over[1] == product);
    assert_true(over[2] == (n > 4 ? 8 : n > 2 ? 3 : 1) && over[3] == (n > 4 ? -7 : -2));
}

static void
check_i32(const struct side *side)
{
    const int32_t a[16] = {1, -2,  30, 0,  INT32_MIN, 6,  INT32_MAX, 8,
                           9, -10, 11, 12, -13,       14, 15,        16};
    const int32_t b[16] = {2, -3, 1, 0, 5, -6, 7, 0, 9, 10, -11, 12, 13, 14, 1, -1};
    int32_t y[128], over[4], top = INT32_MIN, low = INT32_MAX;
    uint32_t total = 0, product = 1;
    const int n = side->bytes / 4;
    void (*pairs)(const int32_t *, const int32_t *, int32_t *) = symbol(side, "side_i32_pairs");
    void (*reduce)(const int32_t *, int32_t *) = symbol(side, "side_i32_over");

    pairs(a, b, y);
    reduce(a, over);
    for (int i = 0; i < n; i++) {
        total += (uint32_t)a[i], product *= (uint32_t)a[i];
        top = a[i] > top ? a[i] : top, low = a[i] < low ? a[i] : low;
        assert_int_equal(y[i], a[i] > b[i] ? a[i] : b[i]);
        assert_int_equal(y[n + i], a[i] < b[i] ? a[i] : b[i]);
        assert_int_equal(y[2 * n + i], a[i] == INT32_MIN ? a[i] : abs(a[i]));
        assert_int_equal(y[3 * n + i], (a[i] > 0) - (a[i] < 0));
        assert_int_equal(y[4 * n + i], a[i] < b[i] ? a[i] : 7);
        assert_int_equal((uint32_t)y[5 * n + i], total);
        assert_int_equal(y[6 * n + i], i);
        assert_int_equal(y[7 * n + i], (int32_t)((float)a[i] * 0.5f + (float)i));
    }
    assert_int_equal((uint32_t)over[0], total);
    assert_int_equal((uint32_t)over[1], product);
    assert_int_equal(over[2], top);
    assert_int_equal(over[3], low);
}

static void
check_i64(const struct side *side)
{
    const int64_t a[8] = {1, -2, INT64_MAX, INT64_MIN, 5, -6, 7, 8};
    const int64_t b[8] = {2, -3, 1, 0, 5, 6, -7, 0};
    int64_t y[32];
    const int n = side->bytes / 8;
    void (*pairs)(const int64_t *, const int64_t *, int64_t *) = symbol(side, "side_i64_pairs");

    pairs(a, b, y);
    for (int i = 0; i < n; i++) {
        assert_true(y[i] == (a[i] > b[i] ? a[i] : b[i]));
        assert_true(y[n + i] == (a[i] < b[i] ? a[i] : b[i]));
        assert_true(y[2 * n + i] == (a[i] < b[i] ? a[i] : 7) && y[3 * n + i] == i);
    }
}

static void
check_f32(const struct side *side)
{
    float x[16], y[16], lasts[16], over[4], total = 0, product = 1;
    const int n = side->bytes / 4;
    int (*any)(const float *) = symbol(side, "side_any");
    void (*reduce)(const float *, float *) = symbol(side, "side_f32_over");

    for (int i = 0; i < n; i++)
        x[i] = (float)(i % 3 - 1) + 0.5f * (float)(i == 2) + 2 * (float)(i % 3 == 1);
    reduce(x, over);
    ((map1)symbol(side, "side_scan_add"))(x, y, (size_t)n);
    ((map1)symbol(side, "side_last"))(x, lasts, (size_t)n);
    for (int i = 0; i < n; i++) {
        total += x[i], product *= x[i];
        assert_true(y[i] == total && lasts[i] == x[n - 1]);
    }
    assert_true(over[0] == total && over[1] == product && over[2] == 2 && over[3] == -1);
    assert_int_equal(any(x), 1);
    for (int i = 0; i < n; i++)
        x[i] = i == n - 1 ? 1.0f : -1.0f;
    assert_int_equal(any(x), 1);
    for (int i = 0; i < n; i++)
        x[i] = -1;
    assert_int_equal(any(x), 0);
    for (int i = 0; i < n; i++)
        x[i] = 1;
    assert_int_equal(any(x), 3);
}

static void
lanes(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIDES; i++) {
        check_f64(&sides[i]);
        check_i32(&sides[i]);
        check_i64(&sides[i]);
        check_f32(&sides[i]);
    }
}

static void
streams(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIDES; i++) {
        _Alignas(64) float f[32] = {0};
        _Alignas(64) int32_t k[32] = {0};
        _Alignas(64) double d[16] = {0};
        const int n = sides[i].bytes / 4;
        void (*stream)(float *, int32_t *, double *, float) = symbol(&sides[i], "side_stream");
        stream(f, k, d, 3);
        for (int j = 0; j < 32; j++)
            assert_true(f[j] == (j < n ? 3 : 0) && k[j] == (j < n ? 3 : 0) &&
                        d[j / 2] == (j / 2 < n / 2 ? 3 : 0));
    }
}

/* From any place to any place, and nothing beside it. */
static void
rows_are_streamed(void **state)
{
    enum { ROOM = 160 };
    float from[ROOM];
    _Alignas(64) float to[ROOM];

    (void)state;
    for (int j = 0; j < ROOM; j++)
        from[j] = (float)(j + 1);
    for (size_t s = 0; s < SIDES; s++)
        for (int start = 0; start < 20; start++)
            for (int n = 0; n <= 100; n += n < 40 ? 1 : 7) {
                memset(to, 0, sizeof to);
                ((void (*)(float *, const float *, ptrdiff_t))symbol(&sides[s], "side_stream_row"))(
                    to + start, from + start % 3, n);
                for (int j = 0; j < ROOM; j++)
                    assert_true(to[j] ==
                                (j < start || j >= start + n ? 0 : from[j - start + start % 3]));
            }
}

/* ---- conversions ---- */

typedef void (*load)(const void *p, void *lanes);
typedef void (*store)(void *p, const void *lanes);

/* Every 16-bit number, out and back. */
static void
check_halves(const struct side *side, enum dtype dtype, const char *form)
{
    load from = symbol_of(side, "vf32_load", form);
    store to = symbol_of(side, "vf32_store", form);
    uint16_t words[MOST_LANES], back[MOST_LANES];
    float x[MOST_LANES];
    const int n = side->bytes / 4;

    for (int first = 0; first < 65536; first += n) {
        for (int i = 0; i < n; i++)
            words[i] = (uint16_t)(first + i);
        from(words, x);
        to(back, x);
        for (int i = 0; i < n; i++) {
            const double want = dtype_element(dtype, words, i);
            if (isnan(want) ? !isnan(x[i]) || !isnan(dtype_element(dtype, back, i))
                            : x[i] != want || back[i] != words[i])
                fail_msg("%s: %s %04x", side->name, form, words[i]);
        }
    }
}

static void
check_store(const struct side *side, enum dtype dtype, const char *form, store to, float *x, int n)
{
    uint16_t got[MOST_LANES], want[MOST_LANES];

    to(got, x);
    for (int i = 0; i < n; i++) {
        dtype_set_element(dtype, want, i, x[i]);
        if (isnan(x[i]) ? !isnan(dtype_element(dtype, got, i)) : got[i] != want[i])
            fail_msg("%s: %a as %s is %04x, not %04x", side->name, (double)x[i], form, got[i],
                     want[i]);
    }
}

/* Is this float, or one beside it, a number of that type and not far beyond all of them? */
static bool
is_ordinary(enum dtype dtype, uint64_t bits)
{
    const int exponent = (int)(bits >> 23 & 0xff) - 127;

    return dtype != DTYPE_F16 || (exponent > -27 && exponent < 17);
}

/* Each number of 16 bits, the middle between each two, and the floats on both sides of these. */
static void
check_rounding(const struct side *side, enum dtype dtype, const char *form, int kept)
{
    store to = symbol_of(side, "vf32_store", form);
    const uint32_t half = 1u << (22 - kept);
    const int n = side->bytes / 4;
    float x[MOST_LANES];
    int filled = 0;

    for (uint64_t bits = 0; bits >> 32 == 0; bits += is_ordinary(dtype, bits) ? half : 1 << 19)
        for (uint32_t i = 0; i < 3; i++) {
            const uint32_t one = (uint32_t)bits + i - 1;
            memcpy(&x[filled++], &one, sizeof one);
            if (filled == n)
                check_store(side, dtype, form, to, x, n), filled = 0;
        }
}

static void
conversions(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIDES; i++) {
        check_halves(&sides[i], DTYPE_F16, "_f16");
        check_halves(&sides[i], DTYPE_BF16, "_bf16");
        check_rounding(&sides[i], DTYPE_F16, "_f16", 10);
        check_rounding(&sides[i], DTYPE_BF16, "_bf16", 7);
    }
}

static void
check_byte(const struct side *side, int value)
{
    const int n = side->bytes / 4;
    int32_t i32[MOST_LANES];
    float f32[MOST_LANES];
    uint8_t bytes[5][MOST_LANES];

    for (int i = 0; i < n; i++)
        i32[i] = value + i, f32[i] = (float)(value + i) + (value + i < 0 ? -0.75f : 0.75f);
    ((store)symbol(side, "side_vi32_store_i8"))(bytes[0], i32);
    ((store)symbol(side, "side_vi32_store_u8"))(bytes[1], i32);
    ((store)symbol(side, "side_vi32_store_bool"))(bytes[2], i32);
    ((store)symbol(side, "side_vf32_store_i8"))(bytes[3], f32);
    ((store)symbol(side, "side_vf32_store_u8"))(bytes[4], f32);
    for (int i = 0; i < n; i++) {
        const uint8_t want = (uint8_t)(value + i);
        assert_int_equal(bytes[0][i], want);
        assert_int_equal(bytes[1][i], want);
        assert_int_equal(bytes[2][i], value + i != 0);
        assert_int_equal(bytes[3][i], want);
        assert_int_equal(bytes[4][i], want);
    }
    ((load)symbol(side, "side_vi32_load_i8"))(bytes[0], i32);
    ((load)symbol(side, "side_vf32_load_u8"))(bytes[1], f32);
    for (int i = 0; i < n; i++)
        assert_true(i32[i] == (int8_t)(value + i) && f32[i] == (uint8_t)(value + i));
    ((load)symbol(side, "side_vi32_load_u8"))(bytes[0], i32);
    ((load)symbol(side, "side_vf32_load_i8"))(bytes[1], f32);
    for (int i = 0; i < n; i++)
        assert_true(i32[i] == (uint8_t)(value + i) && f32[i] == (int8_t)(value + i));
}

static void
bytes_wrap(void **state)
{
    const float x[MOST_LANES] = {0, -0.0f, 1, -1, 0.25f, 256, 1e-40f, INFINITY};
    uint8_t got[MOST_LANES];

    (void)state;
    for (size_t i = 0; i < SIDES; i++) {
        for (int value = -300; value < 300; value += 4)
            check_byte(&sides[i], value);
        ((store)symbol(&sides[i], "side_vf32_store_bool"))(got, x);
        for (int k = 0; k < sides[i].bytes / 4 && !sides[i].fast; k++)
            assert_int_equal(got[k], x[k] != 0);
    }
}

/* ---- tails, at the end of a page behind which there is none ---- */

typedef void (*load_tail)(const void *p, void *lanes, ptrdiff_t n);
typedef void (*store_tail)(void *p, const void *lanes, ptrdiff_t n);

static const struct move {
    const char *kind, *name;
    int element, lane; /* bytes in memory, and in the vector */
} moves[] = {{"vf32", "", 4, 4},    {"vi32", "", 4, 4},     {"vf64", "", 8, 8},
             {"vi64", "", 8, 8},    {"vf32", "_f16", 2, 4}, {"vf32", "_bf16", 2, 4},
             {"vf32", "_i8", 1, 4}, {"vf32", "_u8", 1, 4},  {"vf32", "_bool", 1, 4},
             {"vi32", "_i8", 1, 4}, {"vi32", "_u8", 1, 4},  {"vi32", "_bool", 1, 4}};

static void *
move_of(const struct side *side, const struct move *move, const char *verb, const char *tail)
{
    char name[64];

    snprintf(name, sizeof name, "side_%s_%s%s%s", move->kind, verb, move->name, tail);
    return symbol(side, name);
}

static void
check_load_tail(const struct side *side, const struct move *move, uint8_t *end, int n, int asked)
{
    uint8_t padded[64] = {0}, want[64], got[64];
    uint8_t *p = end - n * move->element;

    for (int i = 0; i < n * move->element; i++)
        p[i] = padded[i] = (uint8_t)(move->element == 1 ? i % 2 : 17 * i + 60);
    ((load)move_of(side, move, "load", ""))(padded, want);
    ((load_tail)move_of(side, move, "load", "_tail"))(p, got, asked);
    if (memcmp(want, got, (size_t)side->bytes) != 0)
        fail_msg("%s: %s_load%s_tail of %d", side->name, move->kind, move->name, asked);
}

/* At the end of the page, and before bytes that must stay as they are. */
static void
check_store_tail(const struct side *side, const struct move *move, const char *tail, uint8_t *end,
                 int n, int asked)
{
    float values[MOST_LANES];
    double wide[MOST_LANES / 2];
    uint8_t want[64];
    const void *from = move->lane == 8 ? (const void *)wide : values;
    const int bytes = n * move->element;

    for (int i = 0; i < MOST_LANES; i++)
        values[i] = (float)(i % 5) + 1, wide[i / 2] = i;
    ((store)move_of(side, move, "store", ""))(want, from);
    for (int gap = 0; gap <= 64; gap += 64) {
        uint8_t *p = end - gap - bytes;
        memset(end - 256, 0xa5, 256);
        ((store_tail)move_of(side, move, "store", tail))(p, from, asked);
        bool same = memcmp(want, p, (size_t)bytes) == 0;
        for (uint8_t *byte = end - 256; byte < end; byte++)
            same &= (byte >= p && byte < p + bytes) || *byte == 0xa5;
        if (!same)
            fail_msg("%s: %s_store%s%s of %d", side->name, move->kind, move->name, tail, asked);
    }
}

/* Lanes apart from each other: those that are asked for, and nothing between them. */
static void
lanes_are_stored_apart(void **state)
{
    typedef void (*store_apart)(void *p, ptrdiff_t step, const void *lanes, int n);
    float lanes[MOST_LANES], memory[3 * MOST_LANES];

    (void)state;
    for (int i = 0; i < MOST_LANES; i++)
        lanes[i] = (float)i + 1;
    for (size_t i = 0; i < SIDES; i++)
        for (int n = 0; n <= sides[i].bytes / 4; n++) {
            memset(memory, 0, sizeof memory);
            ((store_apart)symbol(&sides[i], "side_vf32_store_apart"))(memory, 3, lanes, n);
            for (int at = 0; at < 3 * MOST_LANES; at++) {
                const float want = at % 3 == 0 && at / 3 < n ? lanes[at / 3] : 0;
                assert_float_equal(memory[at], want, 0);
            }
        }
}

/* A page behind which nothing may be touched; munmap() takes both. */
static uint8_t *
guarded_page(size_t page)
{
    uint8_t *memory =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
    return memory;
}

/* Every second or third element, the last one at the end of a page. */
static void
every_second_and_third_element(void **state)
{
    static const char *const names[] = {"side_vf32_load_second", "side_vf32_load_third"};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *memory = guarded_page(page);
    float got[MOST_LANES];

    (void)state;
    for (size_t i = 0; i < SIDES; i++)
        for (int step = 2; step <= 3; step++) {
            const int lanes = sides[i].bytes / 4, count = step * (lanes - 1) + 1;
            float *p = (float *)(memory + page) - count;
            for (int k = 0; k < count; k++)
                p[k] = (float)k;
            ((load)symbol(&sides[i], names[step - 2]))(p, got);
            for (int k = 0; k < lanes; k++)
                assert_float_equal(got[k], (float)(step * k), 0);
        }
    munmap(memory, 2 * page);
}

/* Lanes moved up, zeros before them; down, zeros behind them. */
static void
moved_lanes(void **state)
{
    typedef void move(const void *given, void *lanes, int k);
    float given[MOST_LANES], got[MOST_LANES];

    (void)state;
    for (size_t i = 0; i < SIDES; i++)
        for (int lanes = sides[i].bytes / 4, k = 1; k < lanes; k++) {
            for (int l = 0; l < lanes; l++)
                given[l] = (float)(l + 1);
            ((move *)symbol(&sides[i], "side_vf32_later"))(given, got, k);
            for (int l = 0; l < lanes; l++)
                assert_float_equal(got[l], l < k ? 0.0f : given[l - k], 0);
            ((move *)symbol(&sides[i], "side_vf32_sooner"))(given, got, k);
            for (int l = 0; l < lanes; l++)
                assert_float_equal(got[l], l + k < lanes ? given[l + k] : 0.0f, 0);
        }
}

/* From the last to the first, which stands at the beginning of a page. */
static void
elements_backwards(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *memory = guarded_page(page);
    float got[MOST_LANES], *first = (float *)(memory + page);

    (void)state;
    assert_int_equal(mprotect(memory, page, PROT_NONE), 0);
    assert_int_equal(mprotect(memory + page, page, PROT_READ | PROT_WRITE), 0);
    for (int k = 0; k < MOST_LANES; k++)
        first[k] = (float)k + 1;
    for (size_t i = 0; i < SIDES; i++) {
        const int lanes = sides[i].bytes / 4;
        ((load)symbol(&sides[i], "side_vf32_load_back"))(first + lanes - 1, got);
        for (int k = 0; k < lanes; k++)
            assert_float_equal(got[k], (float)(lanes - k), 0);
        for (int n = 1; n <= lanes; n++) {
            ((load_tail)symbol(&sides[i], "side_vf32_load_back_tail"))(first + n - 1, got, n);
            for (int k = 0; k < lanes; k++)
                assert_float_equal(got[k], k < n ? (float)(n - k) : 0, 0);
        }
    }
    munmap(memory, 2 * page);
}

/* Evens and odds of `pairs` of numbers that end where the page does. */
static void
compare_pairs(const struct side *side, const char *kind, float *end)
{
    const int lanes = side->bytes / 4, odd = strcmp(kind, "odd") == 0;
    float got[MOST_LANES], *p = end - 2 * lanes;
    char name[64];

    for (int k = 0; k < 2 * lanes; k++)
        p[k] = (float)k + 1;
    if (strcmp(kind, "second") != 0) {
        snprintf(name, sizeof name, "side_vf32_load_%s", kind);
        ((load)symbol(side, name))(p, got);
        for (int k = 0; k < lanes; k++)
            assert_float_equal(got[k], p[2 * k + odd], 0);
    }
    snprintf(name, sizeof name, "side_vf32_load_%s_tail", kind);
    for (int n = -1; n <= lanes; n++) {
        p = end - (n < 0 ? 0 : 2 * n) + (strcmp(kind, "second") == 0 && n > 0);
        ((load_tail)symbol(side, name))(p, got, n);
        for (int k = 0; k < lanes; k++)
            assert_float_equal(got[k], k < n ? p[2 * k + odd] : 0, 0);
    }
}

static void
pairs_share_their_loads(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *memory = guarded_page(page);

    (void)state;
    for (size_t i = 0; i < SIDES; i++) {
        compare_pairs(&sides[i], "second", (float *)(memory + page));
        compare_pairs(&sides[i], "even", (float *)(memory + page));
        compare_pairs(&sides[i], "odd", (float *)(memory + page));
    }
    munmap(memory, 2 * page);
}

/* Vectors side by side, an element of each in turn. */
static void
vectors_are_zipped(void **state)
{
    enum { MOST_PLACES = 5 };
    float given[MOST_PLACES * MOST_LANES], got[MOST_LANES];

    (void)state;
    for (int k = 0; k < MOST_PLACES * MOST_LANES; k++)
        given[k] = (float)k;
    for (size_t i = 0; i < SIDES; i++)
        for (int places = 3; places <= MOST_PLACES; places++) {
            const int lanes = sides[i].bytes / 4;
            ((void (*)(const void *, void *, int))symbol(&sides[i], "side_vf32_load_zips"))(
                given, got, places);
            for (int k = 0; k < lanes; k++)
                assert_float_equal(got[k], (float)(k % places * lanes + k / places), 0);
        }
}

/* Two halves of a vector, the second one at the end of a page. */
static void
halves_are_zipped(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *memory = guarded_page(page);
    float got[MOST_LANES];
    double same[MOST_LANES / 2];

    (void)state;
    for (size_t i = 0; i < SIDES; i++) {
        const int lanes = sides[i].bytes / 4;
        float *p = (float *)(memory + page) - lanes;
        double *d = (double *)(memory + page) - lanes / 2;
        for (int k = 0; k < lanes; k++)
            p[k] = (float)k;
        ((load)symbol(&sides[i], "side_vf32_load_zip"))(p, got);
        for (int k = 0; k < lanes; k++)
            assert_float_equal(got[k], (float)(k % 2 * (lanes / 2) + k / 2), 0);
        for (int k = 0; k < lanes / 2; k++)
            d[k] = k;
        ((load)symbol(&sides[i], "side_vf64_hold"))(d, same);
        assert_memory_equal(same, d, (size_t)sides[i].bytes);
    }
    munmap(memory, 2 * page);
}

static void
rows_become_columns(void **state)
{
    float from[MOST_LANES * MOST_LANES], to[MOST_LANES * MOST_LANES];

    (void)state;
    for (int i = 0; i < MOST_LANES * MOST_LANES; i++)
        from[i] = (float)i;
    for (size_t i = 0; i < SIDES; i++) {
        const int lanes = sides[i].bytes / 4;
        ((load)symbol(&sides[i], "side_vf32_transpose"))(from, to);
        for (int k = 0; k < lanes * lanes; k++)
            assert_float_equal(to[k], from[k % lanes * lanes + k / lanes], 0);
    }
}

static void
tails_touch_nothing_else(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *memory = guarded_page(page);

    (void)state;
    for (size_t i = 0; i < SIDES; i++)
        for (size_t f = 0; f < sizeof moves / sizeof *moves; f++) {
            const int most = sides[i].bytes / moves[f].lane;
            for (int asked = -2; asked <= most + 2; asked++) {
                const int n = asked < 0 ? 0 : asked > most ? most : asked;
                check_load_tail(&sides[i], &moves[f], memory + page, n, asked);
                check_store_tail(&sides[i], &moves[f], "_tail", memory + page, n, asked);
                if (f == 0)
                    check_store_tail(&sides[i], &moves[f], "_fixed_tail", memory + page, n, asked);
            }
        }
    munmap(memory, 2 * page);
}

/* ---- sections ---- */

/* The public functions of hone.h, by the beginnings of its lines. */
static size_t
names_of(struct unit *unit, const char **names, size_t most)
{
    size_t count = 0;

    for (const char *line = cpu()->files[0].text; *line; line += strcspn(line, "\n") + 1) {
        size_t length = strcspn(line, " (\n");
        if ((line[0] == 'v' || !strncmp(line, "hone_stream", 11)) && line[length] == '(') {
            assert_true(count < most);
            names[count++] = arena_strndup(unit->arena, line, length);
        }
    }
    return count;
}

static const char *
alone(struct unit *unit, const char *const *names, size_t count)
{
    struct buf buf = buf_in(unit->arena);

    target_hone_text(&buf, names, count);
    return buf.data;
}

/* And is told of in the manual. */
static void
every_function_stands_alone(void **state)
{
    struct unit *unit = *state;
    const char *names[400], *argv[420] = {"gcc",   "-std=gnu17", "-O2",     "-march=native",
                                          "-Wall", "-Wextra",    "-Werror", "-fsyntax-only"};
    const size_t count = names_of(unit, names, 400);
    struct source manual;

    assert_int_equal(
        file_read(unit->arena, project(unit, "doc/hone_h.md"), 1 << 20, &manual, unit->diags),
        STATUS_OK);
    assert_true(count > 140);
    for (size_t i = 0; i < count; i++) {
        struct buf file = buf_in(unit->arena);
        buf_printf(&file, "%s\nvoid *used(void);\nvoid *used(void) { return (void *)%s; }\n",
                   alone(unit, &names[i], 1), names[i]);
        assert_true(target_hone_has(names[i]));
        if (!strstr(manual.text, names[i]))
            fail_msg("doc/hone_h.md does not tell of %s", names[i]);
        argv[8 + i] = arena_printf(unit->arena, "%s.c", names[i]);
        write_text(unit, argv[8 + i], file.data);
    }
    ran(unit, argv);
}

static const char *
text_of_parts(struct unit *unit)
{
    const char *names[FUNCTIONS + 2] = {"vf32_load", "vf32_store"};
    struct buf text = buf_in(unit->arena);

    for (size_t f = 0; f < FUNCTIONS; f++)
        names[2 + f] = arena_printf(unit->arena, "vf32_%s", functions[f].name);
    buf_puts(&text, alone(unit, names, FUNCTIONS + 2));
    for (size_t f = 0; f < FUNCTIONS; f++)
        buf_printf(&text,
                   "void side_%s(const float *x, float *y, size_t n)\n"
                   "{ for (size_t i = 0; i < n; i += VF32) "
                   "vf32_store(y + i, vf32_%s(vf32_load(x + i))); }\n",
                   functions[f].name, functions[f].name);
    return text.data;
}

/* A text of its parts computes what the whole does. */
static void
parts_agree_with_the_whole(void **state)
{
    struct unit *unit = *state;
    struct samples s = draw(unit->arena, 1000003, 10);
    float *y = arena_array(unit->arena, s.count, sizeof *y);
    const char *const argv[] = {
        "sh", "-c",
        arena_printf(unit->arena, "%s %s part.c -o part.so -lm", shell, sides[OWN].flags), NULL};
    struct side part = {.name = "part"};

    write_text(unit, "part.c", text_of_parts(unit));
    ran(unit, argv);
    part.object = dlopen("./part.so", RTLD_NOW);
    assert_non_null(part.object);
    for (size_t f = 0; f < FUNCTIONS; f++) {
        ((map1)symbol_of(&sides[OWN], "", functions[f].name))(s.x, s.y, s.count);
        ((map1)symbol_of(&part, "", functions[f].name))(s.x, y, s.count);
        assert_memory_equal(s.y, y, s.count * sizeof *y);
    }
    dlclose(part.object);
}

static void
a_part_is_no_more_than_needed(void **state)
{
    static const char *const names[] = {"vf32_exp"}, *const unknown[] = {"vf32_expp"};
    struct unit *unit = *state;
    const char *text = alone(unit, names, 1);
    int status = 0;

    assert_true(target_hone_has("vf32_exp") && target_hone_has("vf64_pow"));
    assert_false(target_hone_has("vf32_expp") || target_hone_has("vf32_ex") ||
                 target_hone_has("") || target_hone_has("exp") || target_hone_has("HONE_KEEP"));
    assert_null(strstr(text, "math.h"));
    assert_null(strstr(text, "vf32_log"));
    assert_null(strstr(text, "//@"));
    assert_true(strlen(text) < strlen(cpu()->files[0].text) / 3);
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        alone(unit, unknown, 1);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

/* ---- beside kernels ---- */

/* In the prelude as a text, unless the kernel wants another width. */
static void
headers_of_a_kernel(void **state)
{
    static const char *const more[] = {
        "-I.", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-fsyntax-only", NULL};
    struct unit *unit = *state;
    const struct program *program = program_of(unit, SMALL);
    const char *with = arena_printf(unit->arena, "#include \"hone.h\"\n%s", trivial(unit, program));
    const char *own = arena_printf(unit->arena, "#define HONE_VECTOR_BYTES 16\n%s", with);
    struct target_kernel kernel = kernel_of(unit, program, with);
    struct buf named = buf_in(unit->arena), other = buf_in(unit->arena);
    const char *err;

    target_put_headers(&named, cpu(), &kernel);
    assert_non_null(strstr(named.data, cpu()->files[0].text));
    kernel = kernel_of(unit, program,
                       "/* #include \"hone.h\" */\n#include \"hone.hh\"\nvoid kernel();\n");
    assert_false(target_includes(&kernel, "hone.h"));
    kernel = kernel_of(unit, program, own);
    assert_true(target_includes(&kernel, "hone.h"));
    target_put_headers(&other, cpu(), &kernel);
    assert_null(strstr(other.data, "HONE_H"));
    if (gcc_run(unit, arguments_with(unit, &kernel, more), source_of(unit, program, &kernel), &err))
        fail_msg("%s", err);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_as_accurate_as_promised),
        cmocka_unit_test(zeros_keep_their_sign),
        cmocka_unit_test(two_arguments),
        cmocka_unit_test(three_arguments),
        cmocka_unit_test(comparisons_choose),
        cmocka_unit_test(functions_of_doubles),
        cmocka_unit_test(lanes),
        cmocka_unit_test(streams),
        cmocka_unit_test(rows_are_streamed),
        cmocka_unit_test(conversions),
        cmocka_unit_test(bytes_wrap),
        cmocka_unit_test(lanes_are_stored_apart),
        cmocka_unit_test(every_second_and_third_element),
        cmocka_unit_test(moved_lanes),
        cmocka_unit_test(elements_backwards),
        cmocka_unit_test(pairs_share_their_loads),
        cmocka_unit_test(halves_are_zipped),
        cmocka_unit_test(vectors_are_zipped),
        cmocka_unit_test(rows_become_columns),
        cmocka_unit_test(tails_touch_nothing_else),
        cmocka_unit_test(every_function_stands_alone),
        cmocka_unit_test(parts_agree_with_the_whole),
        cmocka_unit_test(a_part_is_no_more_than_needed),
        cmocka_unit_test(headers_of_a_kernel),
    };

    remember_project();
    return cmocka_run_group_tests(tests, open_sides, close_sides);
}
