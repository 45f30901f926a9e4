/* The other side of target_hone_h.c: every function of hone.h under a plain C name. The test builds
 * it as a shared object for several widths and machines, and calls it there. */
#include "hone.h"

const int side_bytes = HONE_VECTOR_BYTES;

/* ---- functions of one and two floats ---- */

#define MAP1(name)                                            \
    void side_##name(const float *x, float *y, size_t n)      \
    {                                                         \
        for (size_t i = 0; i < n; i += VF32)                  \
            vf32_store(y + i, vf32_##name(vf32_load(x + i))); \
    }
MAP1(exp)
MAP1(exp2)
MAP1(expm1)
MAP1(log)
MAP1(log2)
MAP1(log1p)
MAP1(sin)
MAP1(cos)
MAP1(tan)
MAP1(atan)
MAP1(sinh)
MAP1(cosh)
MAP1(tanh)
MAP1(erf)
MAP1(sigmoid)
MAP1(softplus)
MAP1(sqrt)
MAP1(rsqrt)
MAP1(abs)
MAP1(sign)
MAP1(floor)
MAP1(ceil)
MAP1(round)
MAP1(trunc)
MAP1(scan_add)
MAP1(last)

#define MAP2(name)                                                              \
    void side_##name(const float *a, const float *b, float *y, size_t n)        \
    {                                                                           \
        for (size_t i = 0; i < n; i += VF32)                                    \
            vf32_store(y + i, vf32_##name(vf32_load(a + i), vf32_load(b + i))); \
    }
MAP2(pow)
MAP2(max)
MAP2(min)
MAP2(copysign)

void
side_fma(const float *a, const float *b, float *y, size_t n)
{
    for (size_t i = 0; i < n; i += VF32)
        vf32_store(y + i, vf32_fma(vf32_load(a + i), vf32_load(b + i), -vf32_load(y + i)));
}
void
side_select(const float *a, const float *b, float *y, size_t n)
{
    for (size_t i = 0; i < n; i += VF32) {
        const vf32 c = vf32_load(y + i);
        vf32_store(y + i, vf32_select(c > 0, vf32_load(a + i), vf32_load(b + i)));
    }
}
/* 1 where the comparison of a and b holds, elsewhere what y was. */
#define COMPARE(name)                                                                         \
    void side_if_##name(const float *a, const float *b, float *y, size_t n)                   \
    {                                                                                         \
        for (size_t i = 0; i < n; i += VF32)                                                  \
            vf32_store(y + i, vf32_if_##name(vf32_load(a + i), vf32_load(b + i), vf32_all(1), \
                                             vf32_load(y + i)));                              \
    }
COMPARE(lt)
COMPARE(le)
COMPARE(gt)
COMPARE(ge)
COMPARE(eq)
COMPARE(ne)
/* Out and back in. */
void
side_wide(const float *x, float *y, size_t n)
{
    for (size_t i = 0; i < n; i += VF32) {
        const vf32 v = vf32_load(x + i);
        vf32_store(y + i, vf32_of_f64(vf64_of_low(v) * 3, vf64_of_high(v) * 3));
    }
}

/* ---- of doubles and integers ---- */

#define MAP64(name)                                            \
    void side_f64_##name(const double *x, double *y, size_t n) \
    {                                                          \
        for (size_t i = 0; i < n; i += VF64)                   \
            vf64_store(y + i, vf64_##name(vf64_load(x + i)));  \
    }
MAP64(exp)
MAP64(exp2)
MAP64(expm1)
MAP64(log)
MAP64(log2)
MAP64(log1p)
MAP64(sin)
MAP64(cos)
MAP64(tan)
MAP64(atan)
MAP64(sinh)
MAP64(cosh)
MAP64(tanh)
MAP64(erf)
MAP64(sigmoid)
MAP64(softplus)
MAP64(sqrt)
MAP64(rsqrt)
MAP64(abs)
MAP64(sign)
MAP64(floor)
MAP64(ceil)
MAP64(round)
MAP64(trunc)
MAP64(scan_add)
MAP64(last)

/* y holds the results one behind the other, a block of lanes for each. */
void
side_f64_pairs(const double *a, const double *b, double *y)
{
    const vf64 x = vf64_load(a), z = vf64_load(b);
    vf64_store(y, vf64_max(x, z));
    vf64_store(y + VF64, vf64_min(x, z));
    vf64_store(y + 2 * VF64, vf64_copysign(x, z));
    vf64_store(y + 3 * VF64, vf64_select(x < z, x, vf64_all(7)));
    vf64_store(y + 4 * VF64, vf64_pow(x, z));
    vf64_store(y + 5 * VF64, vf64_iota());
}
void
side_i32_pairs(const int32_t *a, const int32_t *b, int32_t *y)
{
    const vi32 x = vi32_load(a), z = vi32_load(b);
    vi32_store(y, vi32_max(x, z));
    vi32_store(y + VI32, vi32_min(x, z));
    vi32_store(y + 2 * VI32, vi32_abs(x));
    vi32_store(y + 3 * VI32, vi32_sign(x));
    vi32_store(y + 4 * VI32, vi32_select(x < z, x, vi32_all(7)));
    vi32_store(y + 5 * VI32, vi32_scan_add(x));
    vi32_store(y + 6 * VI32, vi32_iota());
    vi32_store(y + 7 * VI32, vi32_of_f32(vf32_of_i32(x) * 0.5f + vf32_iota()));
}
void
side_i64_pairs(const int64_t *a, const int64_t *b, int64_t *y)
{
    const vi64 x = vi64_load(a), z = vi64_load(b);
    vi64_store(y, vi64_max(x, z));
    vi64_store(y + VI64, vi64_min(x, z));
    vi64_store(y + 2 * VI64, vi64_select(x < z, x, vi64_all(7)));
    vi64_store(y + 3 * VI64, vi64_iota());
}

/* ---- over the lanes ---- */

void
side_f32_over(const float *x, float *y)
{
    const vf32 v = vf32_load(x);
    y[0] = vf32_hsum(v), y[1] = vf32_hprod(v), y[2] = vf32_hmax(v), y[3] = vf32_hmin(v);
}
void
side_f64_over(const double *x, double *y)
{
    const vf64 v = vf64_load(x);
    y[0] = vf64_hsum(v), y[1] = vf64_hprod(v), y[2] = vf64_hmax(v), y[3] = vf64_hmin(v);
}
void
side_i32_over(const int32_t *x, int32_t *y)
{
    const vi32 v = vi32_load(x);
    y[0] = vi32_hsum(v), y[1] = vi32_hprod(v), y[2] = vi32_hmax(v), y[3] = vi32_hmin(v);
}
/* Bit 0: some lane is positive, bit 1: every one is. */
int
side_any(const float *x)
{
    const vf32 v = vf32_load(x);
    return vi32_any(v > 0) | vi32_every(v > 0) << 1;
}
void
side_stream(float *f, int32_t *i, double *d, float value)
{
    vf32_stream(f, vf32_all(value));
    vi32_stream(i, vi32_all((int32_t)value));
    vf64_stream(d, vf64_all(value));
    hone_stream_end();
}
void
side_stream_row(float *p, const float *from, ptrdiff_t n)
{
    vf32_stream_row(p, from, n);
    hone_stream_end();
}

/* ---- loads and stores: lanes come from and go to memory as they are ---- */

#define MOVE(kind, form, type)                                                     \
    void side_##kind##_load##form(const void *p, void *lanes)                      \
    {                                                                              \
        const kind x = kind##_load##form((const type *)p);                         \
        memcpy(lanes, &x, sizeof x);                                               \
    }                                                                              \
    void side_##kind##_store##form(void *p, const void *lanes)                     \
    {                                                                              \
        kind x;                                                                    \
        memcpy(&x, lanes, sizeof x);                                               \
        kind##_store##form((type *)p, x);                                          \
    }                                                                              \
    void side_##kind##_load##form##_tail(const void *p, void *lanes, ptrdiff_t n)  \
    {                                                                              \
        const kind x = kind##_load##form##_tail((const type *)p, n);               \
        memcpy(lanes, &x, sizeof x);                                               \
    }                                                                              \
    void side_##kind##_store##form##_tail(void *p, const void *lanes, ptrdiff_t n) \
    {                                                                              \
        kind x;                                                                    \
        memcpy(&x, lanes, sizeof x);                                               \
        kind##_store##form##_tail((type *)p, x, n);                                \
    }
MOVE(vf32, , float)
MOVE(vi32, , int32_t)
MOVE(vf64, , double)
MOVE(vi64, , int64_t)
MOVE(vf32, _f16, void)
MOVE(vf32, _bf16, uint16_t)
MOVE(vf32, _i8, int8_t)
MOVE(vf32, _u8, uint8_t)
MOVE(vf32, _bool, uint8_t)
MOVE(vi32, _i8, int8_t)
MOVE(vi32, _u8, uint8_t)
MOVE(vi32, _bool, uint8_t)

/* A number of lanes that the compiler knows. */
#define FIXED(n)                             \
    case n:                                  \
        vf32_store_tail((float *)p, x, (n)); \
        break;
void
side_vf32_store_fixed_tail(void *p, const void *lanes, ptrdiff_t n)
{
    vf32 x;
    memcpy(&x, lanes, sizeof x);
    switch (n) {
        FIXED(-1)
        FIXED(0)
        FIXED(1)
        FIXED(2)
        FIXED(3)
        FIXED(4)
        FIXED(5)
        FIXED(6)
        FIXED(7)
        FIXED(8)
        FIXED(9)
        FIXED(13)
        FIXED(16)
        FIXED(17)
    default:
        vf32_store_tail((float *)p, x, n);
    }
}

void
side_vf32_store_apart(void *p, ptrdiff_t step, const void *lanes, int n)
{
    vf32 x;
    memcpy(&x, lanes, sizeof x);
    vf32_store_apart(p, step, x, n);
}

void
side_vf32_load_second(const void *p, void *lanes)
{
    const vf32 x = vf32_load_second(p);
    memcpy(lanes, &x, sizeof x);
}

void
side_vf32_load_third(const void *p, void *lanes)
{
    const vf32 x = vf32_load_third(p);
    memcpy(lanes, &x, sizeof x);
}

void
side_vf32_later(const void *p, void *lanes, int k)
{
    const vf32 x = vf32_later(vf32_load(p), k);
    memcpy(lanes, &x, sizeof x);
}

void
side_vf32_sooner(const void *p, void *lanes, int k)
{
    const vf32 x = vf32_sooner(vf32_load(p), k);
    memcpy(lanes, &x, sizeof x);
}

void
side_vf32_load_even(const void *p, void *lanes)
{
    const vf32 x = vf32_load_even(p);
    memcpy(lanes, &x, sizeof x);
}

void
side_vf32_load_odd(const void *p, void *lanes)
{
    const vf32 x = vf32_load_odd(p);
    memcpy(lanes, &x, sizeof x);
}

/* Numbers that the compiler knows take other ways than those that it does not know. */
#define SIDE_PAIRS_TAIL(kind)                                                  \
    void side_vf32_load_##kind##_tail(const void *p, void *lanes, ptrdiff_t n) \
    {                                                                          \
        const vf32 x = n == 1          ? vf32_load_##kind##_tail(p, 1)         \
                       : n == VF32 / 2 ? vf32_load_##kind##_tail(p, VF32 / 2)  \
                       : n == VF32 - 1 ? vf32_load_##kind##_tail(p, VF32 - 1)  \
                                       : vf32_load_##kind##_tail(p, n);        \
        memcpy(lanes, &x, sizeof x);                                           \
    }
SIDE_PAIRS_TAIL(second)
SIDE_PAIRS_TAIL(even)
SIDE_PAIRS_TAIL(odd)
SIDE_PAIRS_TAIL(back)

void
side_vf32_load_back(const void *p, void *lanes)
{
    const vf32 x = vf32_load_back(p);
    memcpy(lanes, &x, sizeof x);
}

void
side_vf32_load_zips(const void *p, void *lanes, int places)
{
    const float *f = p, *g = f + VF32, *h = g + VF32, *i = h + VF32, *j = i + VF32;
    const vf32 x = places == 3   ? vf32_load_zip3(f, g, h)
                   : places == 4 ? vf32_load_zip4(f, g, h, i)
                                 : vf32_load_zip5(f, g, h, i, j);
    memcpy(lanes, &x, sizeof x);
}

void
side_vf32_load_zip(const void *p, void *lanes)
{
    const vf32 x = vf32_hold(vf32_load_zip(p, (const float *)p + VF32 / 2));
    memcpy(lanes, &x, sizeof x);
}

void
side_vf64_hold(const void *p, void *lanes)
{
    const vf64 x = vf64_hold(vf64_load(p));
    memcpy(lanes, &x, sizeof x);
}

void
side_vf32_transpose(const void *p, void *lanes)
{
    vf32 rows[VF32];
    memcpy(rows, p, sizeof rows);
    vf32_transpose(rows);
    memcpy(lanes, rows, sizeof rows);
}
