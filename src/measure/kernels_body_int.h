/* The kernels in terms of a vector: included by one file for each instruction set, which defines
 *
 *   TARGET            the attribute that allows its instructions
 *   VECTOR_BYTES
 *   KERNELS           the name of the table, with KERNELS_NAME, KERNELS_REGISTERS, KERNELS_MVEC
 *   v_fma w_fma       multiply-add of f32 and f64
 *   v_max v_min v_sqrt v_rcp v_rsqrt     the last two: the processor's guess, 11 bits or better
 *   v_store_past      stores past the cache
 *   supported
 *
 * The functions are as exact as the tolerance of the language asks (some units in the last place),
 * or the times would be no limits of anything that passes; tests/unit/measure_kernels.c holds them
 * to it. They leave out what a limit need not have: infinities, NaN, denormals. */

typedef int32_t vi __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef uint32_t vu __attribute__((vector_size(VECTOR_BYTES), may_alias));
#if defined(__x86_64__)
#define REGISTER "x"
#elif defined(__aarch64__)
#define REGISTER "w"
#else
#define REGISTER "m"
#endif
#define INLINE static inline __attribute__((always_inline)) TARGET

/* ---- peaks ---- */

static TARGET double
peak_f32(size_t rounds)
{
    vf x[KERNEL_CHAINS], scale = (vf){0} + 0.75f, shift = (vf){0} + 0.25f, sum = {0};
    for (unsigned i = 0; i < KERNEL_CHAINS; i++)
        x[i] = shift * (float)i;
    __asm__ volatile("" : "+" REGISTER(scale), "+" REGISTER(shift)); /* not constants any more */
    for (size_t round = 0; round < rounds; round++)
#pragma GCC unroll 12
        for (unsigned i = 0; i < KERNEL_CHAINS; i++)
            x[i] = v_fma(x[i], scale, shift);
    for (unsigned i = 0; i < KERNEL_CHAINS; i++)
        sum += x[i];
    return (double)sum[0];
}

static TARGET double
peak_f64(size_t rounds)
{
    vd x[KERNEL_CHAINS], scale = (vd){0} + 0.75, shift = (vd){0} + 0.25, sum = {0};
    for (unsigned i = 0; i < KERNEL_CHAINS; i++)
        x[i] = shift * (double)i;
    __asm__ volatile("" : "+" REGISTER(scale), "+" REGISTER(shift));
    for (size_t round = 0; round < rounds; round++)
#pragma GCC unroll 12
        for (unsigned i = 0; i < KERNEL_CHAINS; i++)
            x[i] = w_fma(x[i], scale, shift);
    for (unsigned i = 0; i < KERNEL_CHAINS; i++)
        sum += x[i];
    return sum[0];
}

/* ---- streams ---- */

/* Exclusive or: the cheapest use of a value. */
static TARGET void
stream_read(float *a, const float *b, const float *c, size_t count)
{
    const vf *from = (const vf *)b, *end = (const vf *)(b + count);
    vi x[8] = {{0}};
    (void)a, (void)c;
    for (; from < end; from += 8)
#pragma GCC unroll 8
        for (unsigned i = 0; i < 8; i++)
            x[i] ^= (vi)from[i];
    vi all = x[0] ^ x[1] ^ x[2] ^ x[3] ^ x[4] ^ x[5] ^ x[6] ^ x[7];
    __asm__ volatile("" : : REGISTER(all));
}

static TARGET void
stream_fill(float *a, const float *b, const float *c, size_t count)
{
    vf value = (vf){0} + 1.5f, *to = (vf *)a, *end = (vf *)(a + count);
    (void)b, (void)c;
    for (; to < end; to += 4)
#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; i++) {
            to[i] = value;
            __asm__ volatile("" : : : "memory"); /* no call of memset */
        }
}

static TARGET void
stream_fill_past(float *a, const float *b, const float *c, size_t count)
{
    vf value = (vf){0} + 1.5f, *to = (vf *)a, *end = (vf *)(a + count);
    (void)b, (void)c;
    for (; to < end; to += 4)
#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; i++)
            v_store_past(to + i, value);
}

static TARGET void
stream_copy(float *a, const float *b, const float *c, size_t count)
{
    const vf *from = (const vf *)b, *end = (const vf *)(b + count);
    vf *to = (vf *)a;
    (void)c;
    for (; from < end; from += 4, to += 4)
#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; i++) {
            to[i] = from[i];
            __asm__ volatile("" : : : "memory");
        }
}

static TARGET void
stream_triad(float *a, const float *b, const float *c, size_t count)
{
    const vf *left = (const vf *)b, *right = (const vf *)c, *end = (const vf *)(b + count);
    vf *to = (vf *)a, scale = (vf){0} + 1.25f;
    for (; left < end; left += 4, right += 4, to += 4)
#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; i++)
            to[i] = v_fma(right[i], scale, left[i]);
}

static TARGET void
stream_triad_past(float *a, const float *b, const float *c, size_t count)
{
    const vf *left = (const vf *)b, *right = (const vf *)c, *end = (const vf *)(b + count);
    vf *to = (vf *)a, scale = (vf){0} + 1.25f;
    for (; left < end; left += 4, right += 4, to += 4)
#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; i++)
            v_store_past(to + i, v_fma(right[i], scale, left[i]));
}

/* ---- functions ---- */

INLINE vf
v_of(float x)
{
    return (vf){0} + x;
}

/* 1/x from the guess and one step of Newton. */
INLINE vf
v_inverse(vf x)
{
    vf guess = v_rcp(x);
    return v_fma(guess, v_fma(-x, guess, v_of(1)), guess);
}

INLINE vf
v_divide(vf x)
{
    return v_of(3) / x;
}

INLINE vf
v_divide_step(vf x)
{
    return v_of(3) * v_inverse(x);
}

INLINE vf
v_root(vf x)
{
    return v_sqrt(x);
}

INLINE vf
v_inverse_root(vf x)
{
    return v_of(1) / v_sqrt(x);
}

INLINE vf
v_inverse_root_step(vf x)
{
    vf guess = v_rsqrt(x), half = guess * v_of(0.5f);
    return v_fma(half, v_fma(-x * guess, guess, v_of(1)), guess);
}

INLINE vf
v_root_step(vf x)
{
    return x * v_inverse_root_step(x);
}

/* Adding 1.5 * 2^23 rounds to an integer, which is then in the low bits of the sum. */
#define ROUNDER 12582912.0f

/* exp(r) * 2^n; `sum` is n + ROUNDER, |r| <= ln(2)/2: the series, its coefficients fitted. */
INLINE vf
v_exp_reduced(vf r, vf sum)
{
    vf p = v_fma(r, v_of(8.312049e-3f), v_of(4.189450e-2f));
    p = v_fma(p, r, v_of(1.6667134e-1f));
    p = v_fma(p, r, v_of(4.9999201e-1f));
    p = v_fma(p, r, v_of(1));
    p = v_fma(p, r, v_of(1));
    return (vf)((vi)p + ((vi)sum << 23));
}

INLINE vf
v_exp(vf x)
{
    x = v_min(v_max(x, v_of(-87)), v_of(88));
    vf sum = v_fma(x, v_of(1.44269504f), v_of(ROUNDER)), n = sum - v_of(ROUNDER);
    vf r = v_fma(n, v_of(-0.693359375f), x);
    r = v_fma(n, v_of(2.12194440e-4f), r);
    return v_exp_reduced(r, sum);
}

INLINE vf
v_exp2(vf x)
{
    x = v_min(v_max(x, v_of(-126)), v_of(127));
    vf sum = x + v_of(ROUNDER), n = sum - v_of(ROUNDER);
    return v_exp_reduced((x - n) * v_of(0.693147181f), sum);
}

/* x = m * 2^e with m around 1; log(m) by a polynomial in m - 1. */
INLINE vf
v_log(vf x)
{
    vi bits = (vi)x, e = (bits - 0x3f3504f3) >> 23;
    vf f = (vf)(bits - (e << 23)) - v_of(1), n = __builtin_convertvector(e, vf), z = f * f;
    vf p = v_fma(f, v_of(8.7004349e-2f), v_of(-1.4267486e-1f));
    p = v_fma(p, f, v_of(1.4914769e-1f));
    p = v_fma(p, f, v_of(-1.6577585e-1f));
    p = v_fma(p, f, v_of(1.9963063e-1f));
    p = v_fma(p, f, v_of(-2.5001338e-1f));
    p = v_fma(p, f, v_of(3.3333910e-1f));
    p = v_fma(p * f, z, n * v_of(-2.12194440e-4f));
    return v_fma(n, v_of(0.693359375f), f + v_fma(z, v_of(-0.5f), p));
}

/* x = n pi + r; sin(x) = +-sin(r). */
INLINE vf
v_sin(vf x)
{
    vf sum = v_fma(x, v_of(0.318309886f), v_of(ROUNDER)), n = sum - v_of(ROUNDER);
    vf r = v_fma(n, v_of(-3.140625f), x);
    r = v_fma(n, v_of(-9.67653589793e-4f), r);
    vf z = r * r, p = v_fma(z, v_of(2.6027760e-6f), v_of(-1.9808306e-4f));
    p = v_fma(p, z, v_of(8.3330497e-3f));
    p = v_fma(p, z, v_of(-1.6666658e-1f));
    p = v_fma(p * z, r, r);
    return (vf)((vu)p ^ ((vu)sum << 31));
}

/* The language allows two roundings of absolute error, so that small results may cancel. */
INLINE vf
v_tanh(vf x)
{
    return v_fma(v_of(-2), v_inverse(v_exp(x + x) + v_of(1)), v_of(1));
}

INLINE vf
v_sigmoid(vf x)
{
    return v_inverse(v_exp(-x) + v_of(1));
}

/* 1 - r^4, r = 1 + t the fourth root of 1 - erf. */
INLINE vf
v_erf(vf x)
{
    vf size = v_min(v_max(x, -x), v_of(3.92f));
    vi sign = (vi)x & INT32_MIN;
    vf q = v_fma(size, v_of(0x1.69dfc4p-19f), v_of(-0x1.27ea7ep-15f));
    q = v_fma(q, size, v_of(0x1.080506p-13f));
    q = v_fma(q, size, v_of(0x1.e97652p-13f));
    q = v_fma(q, size, v_of(-0x1.04ca08p-9f));
    q = v_fma(q, size, v_of(-0x1.34dc94p-10f));
    q = v_fma(q, size, v_of(0x1.30d304p-6f));
    q = v_fma(q, size, v_of(0x1.fad354p-7f));
    q = v_fma(q, size, v_of(-0x1.e8ecf6p-4f));
    q = v_fma(q, size, v_of(-0x1.20dd74p-2f));
    vf t = q * size, s = v_fma(t, t, t + t);
    return (vf)(((vi)v_fma(s, s, s + s) & INT32_MAX) | sign);
}

INLINE vf
v_nearest(vf x)
{
    return (x + v_of(ROUNDER)) - v_of(ROUNDER);
}

INLINE void
map(vf (*function)(vf), float *out, const float *in, size_t count)
{
    const vf *from = (const vf *)in, *end = (const vf *)(in + count);
    for (vf *to = (vf *)out; from < end; from += 4, to += 4)
#pragma GCC unroll 4
        for (unsigned i = 0; i < 4; i++)
            to[i] = function(from[i]);
}

static TARGET void
apply(enum function function, float *out, const float *in, size_t count)
{
    switch (function) {
    case FUNCTION_DIVIDE:
        map(v_divide, out, in, count);
        break;
    case FUNCTION_DIVIDE_STEP:
        map(v_divide_step, out, in, count);
        break;
    case FUNCTION_ROOT:
        map(v_root, out, in, count);
        break;
    case FUNCTION_ROOT_STEP:
        map(v_root_step, out, in, count);
        break;
    case FUNCTION_INVERSE_ROOT:
        map(v_inverse_root, out, in, count);
        break;
    case FUNCTION_INVERSE_ROOT_STEP:
        map(v_inverse_root_step, out, in, count);
        break;
    case FUNCTION_EXPONENTIAL:
        map(v_exp, out, in, count);
        break;
    case FUNCTION_EXPONENTIAL_2:
        map(v_exp2, out, in, count);
        break;
    case FUNCTION_LOGARITHM:
        map(v_log, out, in, count);
        break;
    case FUNCTION_SINE:
        map(v_sin, out, in, count);
        break;
    case FUNCTION_TANGENT_H:
        map(v_tanh, out, in, count);
        break;
    case FUNCTION_ERROR:
        map(v_erf, out, in, count);
        break;
    case FUNCTION_LOGISTIC:
        map(v_sigmoid, out, in, count);
        break;
    case FUNCTION_NEAREST:
        map(v_nearest, out, in, count);
        break;
    case FUNCTION_COUNT:
        break;
    }
}

/* The calling convention of the vector library keeps no vector register: nothing is in one. */
static TARGET __attribute__((unused)) void
map_call(float *out, const float *in, size_t count, void *function)
{
    const vf *from = (const vf *)in, *end = (const vf *)(in + count);
    vf (*call)(vf) = (vf(*)(vf))function;
    for (vf *to = (vf *)out; from < end; from++, to++)
        *to = call(*from);
}

static TARGET __attribute__((unused)) void
map_call_2(float *out, const float *in, size_t count, void *function)
{
    const vf *from = (const vf *)in, *end = (const vf *)(in + count);
    vf (*call)(vf, vf) = (vf(*)(vf, vf))function;
    for (vf *to = (vf *)out; from < end; from++, to++)
        *to = call(*from, *from);
}

const struct kernels KERNELS = {
    .name = KERNELS_NAME,
    .bits = 8 * VECTOR_BYTES,
    .registers = KERNELS_REGISTERS,
    .supported = supported,
    .peak_f32 = peak_f32,
    .peak_f64 = peak_f64,
    .stream = {[STREAM_READ] = stream_read,
               [STREAM_FILL] = stream_fill,
               [STREAM_COPY] = stream_copy,
               [STREAM_TRIAD] = stream_triad,
               [STREAM_FILL_PAST] = stream_fill_past,
               [STREAM_TRIAD_PAST] = stream_triad_past},
    .apply = apply,
    .mvec = KERNELS_MVEC,
    .map_call = map_call,
    .map_call_2 = map_call_2,
};
