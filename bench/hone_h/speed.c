/* The functions of hone.h beside libm's, one float at a time, in turns on the same numbers in the
 * first cache. Built by ../hone_h.sh for this machine. */
#include "hone.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { COUNT = 4096, ROUNDS = 200 };

static float a[COUNT], b[COUNT], y[COUNT];

static float
sigmoidf(float x)
{
    return 1 / (1 + expf(-x));
}
static float
softplusf(float x)
{
    return x > 20 ? x : log1pf(expf(x));
}
static float
rsqrtf(float x)
{
    return 1 / sqrtf(x);
}

/* A pass over all numbers, with vectors and without. */
#define PASSES(name)                                          \
    static void with_##name(void)                             \
    {                                                         \
        for (int i = 0; i < COUNT; i += VF32)                 \
            vf32_store(y + i, vf32_##name(vf32_load(a + i))); \
    }                                                         \
    static void without_##name(void)                          \
    {                                                         \
        for (int i = 0; i < COUNT; i++)                       \
            y[i] = name##f(a[i]);                             \
    }
PASSES(exp)
PASSES(exp2)
PASSES(expm1)
PASSES(log)
PASSES(log2)
PASSES(log1p)
PASSES(sin)
PASSES(cos)
PASSES(tan)
PASSES(atan)
PASSES(sinh)
PASSES(cosh)
PASSES(tanh)
PASSES(erf)
PASSES(sigmoid)
PASSES(softplus)
PASSES(sqrt)
PASSES(rsqrt)

static void
with_pow(void)
{
    for (int i = 0; i < COUNT; i += VF32)
        vf32_store(y + i, vf32_pow(vf32_load(a + i), vf32_load(b + i)));
}
static void
without_pow(void)
{
    for (int i = 0; i < COUNT; i++)
        y[i] = powf(a[i], b[i]);
}

#define ROW(name)                          \
    {                                      \
#name, with_##name, without_##name \
    }
static const struct row {
    const char *name;
    void (*with)(void), (*without)(void);
} rows[] = {ROW(exp),     ROW(exp2),     ROW(expm1), ROW(log),   ROW(log2), ROW(log1p), ROW(sin),
            ROW(cos),     ROW(tan),      ROW(atan),  ROW(sinh),  ROW(cosh), ROW(tanh),  ROW(erf),
            ROW(sigmoid), ROW(softplus), ROW(sqrt),  ROW(rsqrt), ROW(pow)};

static double
seconds(void (*pass)(void))
{
    struct timespec from, to;

    clock_gettime(CLOCK_MONOTONIC, &from);
    pass();
    clock_gettime(CLOCK_MONOTONIC, &to);
    return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

int
main(void)
{
    for (int i = 0; i < COUNT; i++)
        a[i] = (float)(1 + i * 37 % COUNT) * (10.0f / COUNT), b[i] = 5 - a[i];
    for (size_t f = 0; f < sizeof rows / sizeof *rows; f++) {
        double with = INFINITY, without = INFINITY;
        for (int i = 0; i < ROUNDS; i++) {
            with = fmin(with, seconds(rows[f].with));
            without = fmin(without, seconds(rows[f].without));
        }
        printf("%-9s %6.2f ns a float, libm %6.2f: %5.1f times\n", rows[f].name, 1e9 * with / COUNT,
               1e9 * without / COUNT, without / with);
    }
    return 0;
}
