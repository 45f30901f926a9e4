/* hone.h: the vectors of this machine, for kernels: loads and stores with tails, mathematics,
 * reductions. Plain GCC vector extensions; where an instruction is worth it and the compiler would
 * not find it, a builtin, always with a portable form beside it. doc/hone_h.md describes every
 * function.
 *
 * The text is a list of sections, each below a line with its name and the sections it needs. A
 * generated kernel that is to stand alone carries just those that it uses, so a section refers to
 * nothing but what it names. A function's own name stands at the beginning of a line.
 *
 * Kernels are compiled under all flags that the contract allows, -O3 and -ffast-math among them.
 * Hence: no loops over lanes where it matters (-O3 makes them scalar), and HONE_KEEP around sums
 * whose order is their point. Names here begin with v, hone or HONE, and no other word begins with
 * a capital: sizes of a task are macros in capitals, and may stand above this text. */
#ifndef HONE_H
#define HONE_H

//@ base:
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef HONE_VECTOR_BYTES
#if defined __AVX512F__
#define HONE_VECTOR_BYTES 64
#elif defined __AVX__
#define HONE_VECTOR_BYTES 32
#else
#define HONE_VECTOR_BYTES 16
#endif
#endif

/* Whose instructions fit the vectors; 0: none, the portable forms are used. */
#if HONE_VECTOR_BYTES == 64 && defined __AVX512F__
#define HONE_X86 512
#elif HONE_VECTOR_BYTES == 32 && defined __AVX2__
#define HONE_X86 256
#elif HONE_VECTOR_BYTES == 16 && defined __SSE4_1__
#define HONE_X86 128
#else
#define HONE_X86 0
#endif

#define HONE_INLINE static inline __attribute__((always_inline))
#define HONE_VECTOR(bytes, align) __attribute__((vector_size(bytes), aligned(align), may_alias))

/* Nothing is passed by its rules: all is inlined. */
#pragma GCC diagnostic ignored "-Wpsabi"

typedef float vf32 HONE_VECTOR(HONE_VECTOR_BYTES, 4);
typedef int32_t vi32 HONE_VECTOR(HONE_VECTOR_BYTES, 4);
typedef uint32_t vu32 HONE_VECTOR(HONE_VECTOR_BYTES, 4);
typedef double vf64 HONE_VECTOR(HONE_VECTOR_BYTES, 8);
typedef int64_t vi64 HONE_VECTOR(HONE_VECTOR_BYTES, 8);
typedef uint64_t vu64 HONE_VECTOR(HONE_VECTOR_BYTES, 8);

enum { VF32 = HONE_VECTOR_BYTES / 4, VI32 = VF32, VF64 = HONE_VECTOR_BYTES / 8, VI64 = VF64 };

/* Keeps -ffast-math from reordering what is inside with what is outside. Only there: gcc takes
 * vectors of 64 bytes apart for its own barrier, and a register is always bound by asm. */
#if !defined __FAST_MATH__ && !defined __ASSOCIATIVE_MATH__
#define HONE_KEEP(x) (x)
#elif HONE_X86 == 512
#define HONE_KEEP(x)                         \
    __extension__({                          \
        __typeof__((x) + 0) hone_kept = (x); \
        __asm__("" : "+v"(hone_kept));       \
        hone_kept;                           \
    })
#elif HONE_X86
#define HONE_KEEP(x)                         \
    __extension__({                          \
        __typeof__((x) + 0) hone_kept = (x); \
        __asm__("" : "+x"(hone_kept));       \
        hone_kept;                           \
    })
#elif defined __GNUC__ && !defined __clang__ && __GNUC__ >= 12
#define HONE_KEEP(x) __builtin_assoc_barrier(x)
#else
#define HONE_KEEP(x) (x)
#endif

HONE_INLINE vf32
vf32_all(float x)
{
    return x - (vf32){0};
}
HONE_INLINE vi32
vi32_all(int32_t x)
{
    return x + (vi32){0};
}
HONE_INLINE vf64
vf64_all(double x)
{
    return x - (vf64){0};
}
HONE_INLINE vi64
vi64_all(int64_t x)
{
    return x + (vi64){0};
}

//@ order: base
/* Lists of lanes. */
#define HONE_FROM(a, n) HONE_FROM_##n(a)
#define HONE_FROM_2(a) (a), (a) + 1
#define HONE_FROM_4(a) HONE_FROM_2(a), HONE_FROM_2((a) + 2)
#define HONE_FROM_8(a) HONE_FROM_4(a), HONE_FROM_4((a) + 4)
#define HONE_FROM_16(a) HONE_FROM_8(a), HONE_FROM_8((a) + 8)
#define HONE_EVEN_4(a) (a), (a) + 2, (a) + 4, (a) + 6
#define HONE_EVEN_8(a) HONE_EVEN_4(a), HONE_EVEN_4((a) + 8)
#define HONE_EVEN_16(a) HONE_EVEN_8(a), HONE_EVEN_8((a) + 16)
#define HONE_FOURTH_4(a) (a), (a) + 4, (a) + 8, (a) + 12
#define HONE_FOURTH_8(a) HONE_FOURTH_4(a), HONE_FOURTH_4((a) + 16)
#define HONE_FOURTH_16(a) HONE_FOURTH_8(a), HONE_FOURTH_8((a) + 32)

#if HONE_VECTOR_BYTES == 64
#define HONE_LOW HONE_FROM_8(0)
#define HONE_HIGH HONE_FROM_8(8)
#define HONE_FROM32 HONE_FROM_16
#define HONE_FROM64 HONE_FROM_8
#define HONE_EVEN HONE_EVEN_16(0)
#define HONE_FOURTH HONE_FOURTH_16(0)
#elif HONE_VECTOR_BYTES == 32
#define HONE_LOW HONE_FROM_4(0)
#define HONE_HIGH HONE_FROM_4(4)
#define HONE_FROM32 HONE_FROM_8
#define HONE_FROM64 HONE_FROM_4
#define HONE_EVEN HONE_EVEN_8(0)
#define HONE_FOURTH HONE_FOURTH_8(0)
#else
#define HONE_LOW HONE_FROM_2(0)
#define HONE_HIGH HONE_FROM_2(2)
#define HONE_FROM32 HONE_FROM_4
#define HONE_FROM64 HONE_FROM_2
#define HONE_EVEN HONE_EVEN_4(0)
#define HONE_FOURTH HONE_FOURTH_4(0)
#endif

//@ iota: order
/* 0, 1, 2, ... */
HONE_INLINE vi32
vi32_iota(void)
{
    return (vi32){HONE_FROM32(0)};
}
HONE_INLINE vi64
vi64_iota(void)
{
    return (vi64){HONE_FROM64(0)};
}
HONE_INLINE vf32
vf32_iota(void)
{
    return __builtin_convertvector(vi32_iota(), vf32);
}
HONE_INLINE vf64
vf64_iota(void)
{
    return (vf64){HONE_FROM64(0)};
}

//@ load: base
HONE_INLINE vf32
vf32_load(const float *p)
{
    return *(const vf32 *)p;
}
HONE_INLINE void
vf32_store(float *p, vf32 x)
{
    *(vf32 *)p = x;
}
HONE_INLINE vi32
vi32_load(const int32_t *p)
{
    return *(const vi32 *)p;
}
HONE_INLINE void
vi32_store(int32_t *p, vi32 x)
{
    *(vi32 *)p = x;
}
HONE_INLINE vf64
vf64_load(const double *p)
{
    return *(const vf64 *)p;
}
HONE_INLINE void
vf64_store(double *p, vf64 x)
{
    *(vf64 *)p = x;
}
HONE_INLINE vi64
vi64_load(const int64_t *p)
{
    return *(const vi64 *)p;
}
HONE_INLINE void
vi64_store(int64_t *p, vi64 x)
{
    *(vi64 *)p = x;
}

//@ second: load iota
/* p[0], p[2], p[4], ...; nothing behind the last of them is touched. */
HONE_INLINE vf32
vf32_load_second(const float *p)
{
    const vi32 at = 2 * vi32_iota();
    return __builtin_shuffle(vf32_load(p), vf32_load(p + VF32 - 1), at - (at >= VF32));
}

//@ third: load iota
/* p[0], p[3], p[6], ...; nothing behind the last of them is touched. */
HONE_INLINE vf32
vf32_load_third(const float *p)
{
    const vi32 at = 3 * vi32_iota(), far = at >= 2 * VF32;
    const vf32 near = __builtin_shuffle(vf32_load(p), vf32_load(p + VF32), at);
    return __builtin_shuffle(near, vf32_load(p + 2 * VF32 - 2),
                             (far & (at - VF32 + 2)) | (~far & vi32_iota()));
}

//@ pairs: load iota
/* p[0], p[2], p[4], ... and p[1], p[3], p[5], ...: both from the same two loads. */
HONE_INLINE vf32
vf32_load_even(const float *p)
{
    return __builtin_shuffle(vf32_load(p), vf32_load(p + VF32), 2 * vi32_iota());
}
HONE_INLINE vf32
vf32_load_odd(const float *p)
{
    return __builtin_shuffle(vf32_load(p), vf32_load(p + VF32), 2 * vi32_iota() + 1);
}

//@ back: load iota
/* p[0], p[-1], p[-2], ... */
HONE_INLINE vf32
vf32_load_back(const float *p)
{
    return __builtin_shuffle(vf32_load(p - (VF32 - 1)), VF32 - 1 - vi32_iota());
}

//@ zip: load
/* p[0], q[0], p[1], q[1], ...; half of the lanes from each, and nothing behind them is touched. */
HONE_INLINE vf32
vf32_load_zip(const float *p, const float *q)
{
    typedef float half HONE_VECTOR(HONE_VECTOR_BYTES / 2, 4);
#if defined __clang__ || __GNUC__ >= 12
    const half a = *(const half *)p, b = *(const half *)q;
#if HONE_VECTOR_BYTES == 64
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
#elif HONE_VECTOR_BYTES == 32
    return __builtin_shufflevector(a, b, 0, 4, 1, 5, 2, 6, 3, 7);
#else
    return __builtin_shufflevector(a, b, 0, 2, 1, 3);
#endif
#else
    vf32 x = {0};
    for (int i = 0; i < VF32; i++)
        x[i] = (i & 1 ? q : p)[i / 2];
    (void)sizeof(half);
    return x;
#endif
}

//@ zips: load iota
/* Of every `places` lanes those from number `from` on are the next element of y. */
HONE_INLINE vf32
hone_zip(vf32 x, vf32 y, int places, int from)
{
    const vi32 lane = vi32_iota(), turn = lane / places, taken = lane - turn * places >= from;
    return __builtin_shuffle(x, y, (taken & (turn + VF32)) | (~taken & lane));
}
/* The same from three, four or five places: p[0], q[0], r[0], p[1], ... A whole vector is read from
 * each. */
HONE_INLINE vf32
vf32_load_zip3(const float *p, const float *q, const float *r)
{
    const vf32 first = __builtin_shuffle(vf32_load(p), vi32_iota() / 3);
    return hone_zip(hone_zip(first, vf32_load(q), 3, 1), vf32_load(r), 3, 2);
}
HONE_INLINE vf32
vf32_load_zip4(const float *p, const float *q, const float *r, const float *s)
{
    const vf32 first = __builtin_shuffle(vf32_load(p), vi32_iota() / 4);
    const vf32 two = hone_zip(first, vf32_load(q), 4, 1);
    return hone_zip(hone_zip(two, vf32_load(r), 4, 2), vf32_load(s), 4, 3);
}
HONE_INLINE vf32
vf32_load_zip5(const float *p, const float *q, const float *r, const float *s, const float *t)
{
    const vf32 first = __builtin_shuffle(vf32_load(p), vi32_iota() / 5);
    const vf32 three = hone_zip(hone_zip(first, vf32_load(q), 5, 1), vf32_load(r), 5, 2);
    return hone_zip(hone_zip(three, vf32_load(s), 5, 3), vf32_load(t), 5, 4);
}

//@ transpose: iota
/* Lane j of row i and lane i of row j change places: for each bit of the numbers, the half of the
 * lanes where they differ in it. */
HONE_INLINE void
vf32_transpose(vf32 rows[VF32])
{
    const vi32 lane = vi32_iota();
#pragma GCC unroll 8
    for (int bit = 1; bit < VF32; bit *= 2) {
#pragma GCC unroll 16
        for (int i = 0; i < VF32; i++) {
            if (i & bit)
                continue;
            const vi32 from = lane + (((lane & bit) != 0) & (VF32 - bit));
            const vf32 a = rows[i], b = rows[i | bit];
            rows[i] = __builtin_shuffle(a, b, from);
            rows[i | bit] = __builtin_shuffle(a, b, from + bit);
        }
    }
}

//@ copy: base
HONE_INLINE size_t
hone_between(ptrdiff_t n, size_t most)
{
    return n < 0 ? 0 : (size_t)n < most ? (size_t)n : most;
}
/* memcpy of at most 64 bytes: two moves that may overlap, and no call. */
HONE_INLINE void
hone_copy(void *to, const void *from, size_t n)
{
    char *t = to;
    const char *f = from;

    if (n > 32) {
        char a[32], b[32];
        memcpy(a, f, 32), memcpy(b, f + n - 32, 32);
        memcpy(t, a, 32), memcpy(t + n - 32, b, 32);
    } else if (n >= 16) {
        char a[16], b[16];
        memcpy(a, f, 16), memcpy(b, f + n - 16, 16);
        memcpy(t, a, 16), memcpy(t + n - 16, b, 16);
    } else if (n >= 8) {
        uint64_t a, b;
        memcpy(&a, f, 8), memcpy(&b, f + n - 8, 8);
        memcpy(t, &a, 8), memcpy(t + n - 8, &b, 8);
    } else if (n >= 4) {
        uint32_t a, b;
        memcpy(&a, f, 4), memcpy(&b, f + n - 4, 4);
        memcpy(t, &a, 4), memcpy(t + n - 4, &b, 4);
    } else if (n > 0) {
        char a = f[0], b = f[n / 2], c = f[n - 1];
        t[0] = a, t[n / 2] = b, t[n - 1] = c;
    }
}

//@ tail32: base iota copy
/* The first n lanes; the others are 0, and their memory is not touched. */
HONE_INLINE vi32
vi32_load_tail(const int32_t *p, ptrdiff_t n)
{
#if HONE_X86 == 512
    const unsigned short mask = (unsigned short)((1u << hone_between(n, VI32)) - 1);
    return (vi32)__builtin_ia32_loadups512_mask((const float *)p, (vf32){0}, mask);
#elif HONE_X86 == 256
    const vi32 mask = vi32_iota() < (int)hone_between(n, VI32);
    return (vi32)__builtin_ia32_maskloadps256((const vf32 *)p, mask);
#elif HONE_X86 == 128 && defined __AVX__
    const vi32 mask = vi32_iota() < (int)hone_between(n, VI32);
    return (vi32)__builtin_ia32_maskloadps((const vf32 *)p, mask);
#else
    vi32 x = {0};
    hone_copy(&x, p, 4 * hone_between(n, VI32));
    return x;
#endif
}
HONE_INLINE vf32
vf32_load_tail(const float *p, ptrdiff_t n)
{
    return (vf32)vi32_load_tail((const int32_t *)p, n);
}
#if HONE_X86 == 256
/* Fewer lanes than a vector has, by parts: some processors take a store under a mask in dozens of
 * steps. */
HONE_INLINE void
hone_store_parts(float *p, vf32 x, int n)
{
    typedef float half HONE_VECTOR(16, 4);
    typedef int64_t pair HONE_VECTOR(16, 4);
    typedef int64_t one __attribute__((aligned(4), may_alias));
    const half low = __builtin_ia32_vextractf128_ps256(x, 0);
    const half last = n & 4 ? (half)__builtin_ia32_vextractf128_ps256(x, 1) : low;

    if (n & 4)
        *(half *)p = low;
    if (n & 2)
        *(one *)(p + (n & 4)) = ((pair)last)[0];
    if (n & 1)
        p[n - 1] = last[n & 2];
}
#endif
/* Only p[0] to p[n-1] are written. */
HONE_INLINE void
vf32_store_tail(float *p, vf32 x, ptrdiff_t n)
{
#if HONE_X86 == 512
    const unsigned short mask = (unsigned short)((1u << hone_between(n, VF32)) - 1);
    __builtin_ia32_storeups512_mask(p, x, mask);
#elif HONE_X86 == 256
    const vi32 mask = vi32_iota() < (int)hone_between(n, VF32);
    if (__builtin_constant_p(n) && n > 0 && n < VF32)
        hone_store_parts(p, x, (int)n);
    else
        __builtin_ia32_maskstoreps256((vf32 *)p, mask, x);
#elif HONE_X86 == 128 && defined __AVX__
    const vi32 mask = vi32_iota() < (int)hone_between(n, VF32);
    __builtin_ia32_maskstoreps((vf32 *)p, mask, x);
#else
    hone_copy(p, &x, 4 * hone_between(n, VF32));
#endif
}
HONE_INLINE void
vi32_store_tail(int32_t *p, vi32 x, ptrdiff_t n)
{
    vf32_store_tail((float *)p, (vf32)x, n);
}

//@ pairs_tail: tail32 iota load
/* The same for the first n lanes; the others are 0. Behind the last of them nothing is touched, but
 * for one element by vf32_load_even_tail(): the partner of the last one. */
HONE_INLINE vf32
hone_load_halves(const float *p, ptrdiff_t n, vi32 at)
{
    const int one = __builtin_constant_p(n) && n <= VF32, two = __builtin_constant_p(n) && !one;
    const vf32 low = two ? vf32_load(p) : vf32_load_tail(p, n);
    const vf32 high = one ? (vf32){0} : vf32_load_tail(p + VF32, n - VF32);
    return __builtin_shuffle(low, high, at);
}
HONE_INLINE vf32
vf32_load_second_tail(const float *p, ptrdiff_t n)
{
    return hone_load_halves(p, 2 * n - 1, 2 * vi32_iota());
}
HONE_INLINE vf32
vf32_load_even_tail(const float *p, ptrdiff_t n)
{
    return hone_load_halves(p, 2 * n, 2 * vi32_iota());
}
HONE_INLINE vf32
vf32_load_odd_tail(const float *p, ptrdiff_t n)
{
    return hone_load_halves(p, 2 * n, 2 * vi32_iota() + 1);
}

//@ later: iota
/* Lane i of x in lane i + k or in lane i - k, 0 < k < VF32; the first or the last k are 0. */
HONE_INLINE vf32
vf32_later(vf32 x, int k)
{
    return __builtin_shuffle((vf32){0}, x, vi32_iota() + (VF32 - k));
}
HONE_INLINE vf32
vf32_sooner(vf32 x, int k)
{
    return __builtin_shuffle(x, (vf32){0}, vi32_iota() + k);
}

//@ back_tail: tail32 iota
/* The same for the first n lanes; the others are 0. */
HONE_INLINE vf32
vf32_load_back_tail(const float *p, ptrdiff_t n)
{
    const int count = (int)hone_between(n, VF32);
    const vi32 at = count - 1 - vi32_iota(); /* below 0: from the end on, where there are zeros */
    return __builtin_shuffle(vf32_load_tail(p - (count - 1), count), at & (VF32 - 1));
}

//@ apart: load
/* The first n lanes to p[0], p[step], p[2*step], ... */
HONE_INLINE void
vf32_store_apart(float *p, ptrdiff_t step, vf32 x, int n)
{
    float lanes[VF32];
    vf32_store(lanes, x);
    for (int i = 0; i < n; i++)
        p[i * step] = lanes[i];
}

//@ tail64: tail32
HONE_INLINE vf64
vf64_load_tail(const double *p, ptrdiff_t n)
{
    return (vf64)vi32_load_tail((const int32_t *)p, 2 * (ptrdiff_t)hone_between(n, VF64));
}
HONE_INLINE void
vf64_store_tail(double *p, vf64 x, ptrdiff_t n)
{
    vf32_store_tail((float *)p, (vf32)x, 2 * (ptrdiff_t)hone_between(n, VF64));
}
HONE_INLINE vi64
vi64_load_tail(const int64_t *p, ptrdiff_t n)
{
    return (vi64)vf64_load_tail((const double *)p, n);
}
HONE_INLINE void
vi64_store_tail(int64_t *p, vi64 x, ptrdiff_t n)
{
    vf64_store_tail((double *)p, (vf64)x, n);
}

//@ hold: base
/* In a register from here on. gcc puts a load into every product that reads it, twice the loads
 * that the units can do, and spills what it should read again; what asm has touched it can do
 * neither to.
 */
HONE_INLINE vf32
vf32_hold(vf32 x)
{
#if HONE_X86 == 512
    __asm__("" : "+v"(x));
#elif HONE_X86
    __asm__("" : "+x"(x));
#endif
    return x;
}
HONE_INLINE vf64
vf64_hold(vf64 x)
{
    return (vf64)vf32_hold((vf32)x);
}

//@ stream: load
/* Past the caches; p is a multiple of HONE_VECTOR_BYTES. hone_stream_end() after the last one. */
HONE_INLINE void
vf32_stream(float *p, vf32 x)
{
#if HONE_X86 == 512
    __builtin_ia32_movntps512(p, x);
#elif HONE_X86 == 256
    __builtin_ia32_movntps256(p, x);
#elif HONE_X86 == 128
    __builtin_ia32_movntps(p, x);
#else
    vf32_store(p, x);
#endif
}
HONE_INLINE void
vi32_stream(int32_t *p, vi32 x)
{
    vf32_stream((float *)p, (vf32)x);
}
HONE_INLINE void
vf64_stream(double *p, vf64 x)
{
    vf32_stream((float *)p, (vf32)x);
}
HONE_INLINE void
hone_stream_end(void)
{
#if HONE_X86
    __builtin_ia32_sfence();
#endif
}

//@ stream_row: stream tail32
/* n elements from `from` to p, past the caches but for the lines at the ends, which belong to
 * others, too. */
HONE_INLINE void
vf32_stream_row(float *p, const float *from, ptrdiff_t n)
{
    const ptrdiff_t before = (ptrdiff_t)(-(uintptr_t)p / sizeof *p % 16);
    const ptrdiff_t first = before < n ? before : n, last = first + (n - first) / 16 * 16;
    ptrdiff_t i;
    for (i = 0; i < first; i += VF32)
        vf32_store_tail(p + i, vf32_load_tail(from + i, first - i), first - i);
    for (i = first; i < last; i += VF32)
        vf32_stream(p + i, vf32_load(from + i));
    for (; i < n; i += VF32)
        vf32_store_tail(p + i, vf32_load_tail(from + i, n - i), n - i);
}

//@ select: base
/* Where the mask's lane is -1 (true) a, where it is 0 b. */
HONE_INLINE vf32
vf32_select(vi32 mask, vf32 a, vf32 b)
{
#if HONE_X86 == 256
    return __builtin_ia32_blendvps256(b, a, (vf32)mask);
#else
    return (vf32)(((vi32)a & mask) | ((vi32)b & ~mask));
#endif
}
HONE_INLINE vi32
vi32_select(vi32 mask, vi32 a, vi32 b)
{
    return (a & mask) | (b & ~mask);
}
HONE_INLINE vf64
vf64_select(vi64 mask, vf64 a, vf64 b)
{
    return (vf64)(((vi64)a & mask) | ((vi64)b & ~mask));
}
HONE_INLINE vi64
vi64_select(vi64 mask, vi64 a, vi64 b)
{
    return (a & mask) | (b & ~mask);
}

//@ compare: select
/* x where a < b, elsewhere y; and so on. AVX-512 compares into masks of bits, which vf32_select()
 * does not take: one instruction less. */
#if HONE_X86 == 512
#define HONE_WHERE(a, sign, how, b, x, y) \
    __builtin_ia32_blendmps_512_mask(y, x, (uint16_t)__builtin_ia32_cmpps512_mask(a, b, how, -1, 4))
#else
#define HONE_WHERE(a, sign, how, b, x, y) vf32_select((a)sign(b), x, y)
#endif
HONE_INLINE vf32
vf32_if_lt(vf32 a, vf32 b, vf32 x, vf32 y)
{
    return HONE_WHERE(a, <, 1, b, x, y);
}
HONE_INLINE vf32
vf32_if_le(vf32 a, vf32 b, vf32 x, vf32 y)
{
    return HONE_WHERE(a, <=, 2, b, x, y);
}
HONE_INLINE vf32
vf32_if_gt(vf32 a, vf32 b, vf32 x, vf32 y)
{
    return HONE_WHERE(a, >, 14, b, x, y);
}
HONE_INLINE vf32
vf32_if_ge(vf32 a, vf32 b, vf32 x, vf32 y)
{
    return HONE_WHERE(a, >=, 13, b, x, y);
}
HONE_INLINE vf32
vf32_if_eq(vf32 a, vf32 b, vf32 x, vf32 y)
{
    return HONE_WHERE(a, ==, 0, b, x, y);
}
HONE_INLINE vf32
vf32_if_ne(vf32 a, vf32 b, vf32 x, vf32 y)
{
    return HONE_WHERE(a, !=, 4, b, x, y);
}

//@ any: base
HONE_INLINE int
vi32_any(vi32 mask)
{
#if HONE_X86 == 512
    return __builtin_ia32_ptestmd512(mask, mask, -1) != 0;
#elif HONE_X86 == 256
    return __builtin_ia32_movmskps256((vf32)mask) != 0;
#elif HONE_X86 == 128
    return __builtin_ia32_movmskps((vf32)mask) != 0;
#else
    int64_t all = 0;
    for (int i = 0; i < VI64; i++)
        all |= ((vi64)mask)[i];
    return all != 0;
#endif
}
HONE_INLINE int
vi32_every(vi32 mask)
{
    return !vi32_any(~mask);
}

//@ maxmin: select
/* a > b ? a : b, which is what the language says: of a NaN and of zeros of both signs, b. */
HONE_INLINE vf32
vf32_max(vf32 a, vf32 b)
{
#if HONE_X86 == 512
    return __builtin_ia32_maxps512_mask(a, b, a, -1, 4);
#elif HONE_X86 == 256
    return __builtin_ia32_maxps256(a, b);
#elif HONE_X86 == 128
    return __builtin_ia32_maxps(a, b);
#else
    return vf32_select(a > b, a, b);
#endif
}
HONE_INLINE vf32
vf32_min(vf32 a, vf32 b)
{
#if HONE_X86 == 512
    return __builtin_ia32_minps512_mask(a, b, a, -1, 4);
#elif HONE_X86 == 256
    return __builtin_ia32_minps256(a, b);
#elif HONE_X86 == 128
    return __builtin_ia32_minps(a, b);
#else
    return vf32_select(a < b, a, b);
#endif
}
HONE_INLINE vf64
vf64_max(vf64 a, vf64 b)
{
#if HONE_X86 == 512
    return __builtin_ia32_maxpd512_mask(a, b, a, -1, 4);
#elif HONE_X86 == 256
    return __builtin_ia32_maxpd256(a, b);
#elif HONE_X86 == 128
    return __builtin_ia32_maxpd(a, b);
#else
    return vf64_select(a > b, a, b);
#endif
}
HONE_INLINE vf64
vf64_min(vf64 a, vf64 b)
{
#if HONE_X86 == 512
    return __builtin_ia32_minpd512_mask(a, b, a, -1, 4);
#elif HONE_X86 == 256
    return __builtin_ia32_minpd256(a, b);
#elif HONE_X86 == 128
    return __builtin_ia32_minpd(a, b);
#else
    return vf64_select(a < b, a, b);
#endif
}
HONE_INLINE vi32
vi32_max(vi32 a, vi32 b)
{
    return vi32_select(a > b, a, b);
}
HONE_INLINE vi32
vi32_min(vi32 a, vi32 b)
{
    return vi32_select(a < b, a, b);
}
HONE_INLINE vi64
vi64_max(vi64 a, vi64 b)
{
    return vi64_select(a > b, a, b);
}
HONE_INLINE vi64
vi64_min(vi64 a, vi64 b)
{
    return vi64_select(a < b, a, b);
}

//@ abs: base
HONE_INLINE vf32
vf32_abs(vf32 x)
{
    return (vf32)((vi32)x & 0x7fffffff);
}
HONE_INLINE vf64
vf64_abs(vf64 x)
{
    return (vf64)((vi64)x & INT64_MAX);
}
HONE_INLINE vi32
vi32_abs(vi32 x)
{
    return (vi32)(((vu32)x ^ (vu32)(x >> 31)) - (vu32)(x >> 31));
}
/* The size of a, the sign of b. */
HONE_INLINE vf32
vf32_copysign(vf32 a, vf32 b)
{
    return (vf32)(((vi32)a & 0x7fffffff) | ((vi32)b & INT32_MIN));
}
HONE_INLINE vf64
vf64_copysign(vf64 a, vf64 b)
{
    return (vf64)(((vi64)a & INT64_MAX) | ((vi64)b & INT64_MIN));
}

//@ sign: abs
/* -1, 0 or 1; of a NaN 0. */
HONE_INLINE vf32
vf32_sign(vf32 x)
{
    return (vf32)((vi32)vf32_copysign(vf32_all(1), x) & ((x > 0) | (x < 0)));
}
HONE_INLINE vf64
vf64_sign(vf64 x)
{
    return (vf64)((vi64)vf64_copysign(vf64_all(1), x) & ((x > 0) | (x < 0)));
}
HONE_INLINE vi32
vi32_sign(vi32 x)
{
    return (x < 0) - (x > 0);
}

//@ round: select abs
/* How: 8 to nearest even, 9 down, 10 up, 11 toward zero. */
#if HONE_X86 == 512
#define HONE_ROUND32(x, how) __builtin_ia32_rndscaleps_mask(x, how, x, -1, 4)
#define HONE_ROUND64(x, how) __builtin_ia32_rndscalepd_mask(x, how, x, -1, 4)
#elif HONE_X86 == 256
#define HONE_ROUND32(x, how) __builtin_ia32_roundps256(x, how)
#define HONE_ROUND64(x, how) __builtin_ia32_roundpd256(x, how)
#elif HONE_X86 == 128
#define HONE_ROUND32(x, how) __builtin_ia32_roundps(x, how)
#define HONE_ROUND64(x, how) __builtin_ia32_roundpd(x, how)
#else
#define HONE_ROUND32(x, how) hone_round32(x, how)
#define HONE_ROUND64(x, how) hone_round64(x, how)
HONE_INLINE vf32
hone_round32(vf32 x, int how)
{
    const vf32 a = vf32_abs(x), big = vf32_all(0x1p23f);
    const vf32 near = vf32_copysign(HONE_KEEP(HONE_KEEP(a + big) - big), x);
    const vf32 over = how == 9 ? vf32_select(near > x, vf32_all(1), vf32_all(0))
                      : how == 10 ? vf32_select(near < x, vf32_all(-1), vf32_all(0))
                      : how == 11
                          ? (vf32)((vi32)vf32_copysign(vf32_all(1), x) & (vf32_abs(near) > a))
                          : vf32_all(0);
    return vf32_select(a < big, vf32_copysign(near - over, x), x + 0);
}
HONE_INLINE vf64
hone_round64(vf64 x, int how)
{
    const vf64 a = vf64_abs(x), big = vf64_all(0x1p52);
    const vf64 near = vf64_copysign(HONE_KEEP(HONE_KEEP(a + big) - big), x);
    const vf64 over = how == 9 ? vf64_select(near > x, vf64_all(1), vf64_all(0))
                      : how == 10 ? vf64_select(near < x, vf64_all(-1), vf64_all(0))
                      : how == 11
                          ? (vf64)((vi64)vf64_copysign(vf64_all(1), x) & (vf64_abs(near) > a))
                          : vf64_all(0);
    return vf64_select(a < big, vf64_copysign(near - over, x), x + 0);
}
#endif
/* To even. */
HONE_INLINE vf32
vf32_round(vf32 x)
{
    return HONE_ROUND32(x, 8);
}
HONE_INLINE vf32
vf32_floor(vf32 x)
{
    return HONE_ROUND32(x, 9);
}
HONE_INLINE vf32
vf32_ceil(vf32 x)
{
    return HONE_ROUND32(x, 10);
}
HONE_INLINE vf32
vf32_trunc(vf32 x)
{
    return HONE_ROUND32(x, 11);
}
HONE_INLINE vf64
vf64_round(vf64 x)
{
    return HONE_ROUND64(x, 8);
}
HONE_INLINE vf64
vf64_floor(vf64 x)
{
    return HONE_ROUND64(x, 9);
}
HONE_INLINE vf64
vf64_ceil(vf64 x)
{
    return HONE_ROUND64(x, 10);
}
HONE_INLINE vf64
vf64_trunc(vf64 x)
{
    return HONE_ROUND64(x, 11);
}

//@ sqrt: base
HONE_INLINE vf32
vf32_sqrt(vf32 x)
{
#if HONE_X86 == 512
    return __builtin_ia32_sqrtps512_mask(x, x, -1, 4);
#elif HONE_X86 == 256
    return __builtin_ia32_sqrtps256(x);
#elif HONE_X86 == 128
    return __builtin_ia32_sqrtps(x);
#else
    vf32 y;
    for (int i = 0; i < VF32; i++)
        y[i] = __builtin_sqrtf(x[i]);
    return y;
#endif
}
HONE_INLINE vf64
vf64_sqrt(vf64 x)
{
#if HONE_X86 == 512
    return __builtin_ia32_sqrtpd512_mask(x, x, -1, 4);
#elif HONE_X86 == 256
    return __builtin_ia32_sqrtpd256(x);
#elif HONE_X86 == 128
    return __builtin_ia32_sqrtpd(x);
#else
    vf64 y;
    for (int i = 0; i < VF64; i++)
        y[i] = __builtin_sqrt(x[i]);
    return y;
#endif
}
HONE_INLINE vf32
vf32_rsqrt(vf32 x)
{
    return 1 / vf32_sqrt(x);
}
HONE_INLINE vf64
vf64_rsqrt(vf64 x)
{
    return 1 / vf64_sqrt(x);
}

//@ convert: order
/* Toward zero; out of range: undefined. */
HONE_INLINE vi32
vi32_of_f32(vf32 x)
{
    return __builtin_convertvector(x, vi32);
}
HONE_INLINE vf32
vf32_of_i32(vi32 x)
{
    return __builtin_convertvector(x, vf32);
}
typedef float hone_half32 HONE_VECTOR(HONE_VECTOR_BYTES / 2, 4);
/* The lower and the upper half of the lanes. */
HONE_INLINE vf64
vf64_of_low(vf32 x)
{
#if HONE_X86 == 128
    return __builtin_ia32_cvtps2pd(x);
#else
    const hone_half32 half = __builtin_shufflevector(x, x, HONE_LOW);
#if HONE_X86 == 512
    return __builtin_ia32_cvtps2pd512_mask(half, (vf64){0}, -1, 4);
#elif HONE_X86 == 256
    return __builtin_ia32_cvtps2pd256(half);
#else
    return __builtin_convertvector(half, vf64);
#endif
#endif
}
HONE_INLINE vf64
vf64_of_high(vf32 x)
{
#if HONE_X86 == 128
    return __builtin_ia32_cvtps2pd(__builtin_shufflevector(x, x, 2, 3, 2, 3));
#else
    const hone_half32 half = __builtin_shufflevector(x, x, HONE_HIGH);
#if HONE_X86 == 512
    return __builtin_ia32_cvtps2pd512_mask(half, (vf64){0}, -1, 4);
#elif HONE_X86 == 256
    return __builtin_ia32_cvtps2pd256(half);
#else
    return __builtin_convertvector(half, vf64);
#endif
#endif
}
HONE_INLINE vf32
vf32_of_f64(vf64 low, vf64 high)
{
#if HONE_X86 == 512
    const hone_half32 a = __builtin_ia32_cvtpd2ps512_mask(low, (hone_half32){0}, -1, 4);
    const hone_half32 b = __builtin_ia32_cvtpd2ps512_mask(high, (hone_half32){0}, -1, 4);
    return __builtin_shufflevector(a, b, HONE_FROM32(0));
#elif HONE_X86 == 256
    const hone_half32 a = __builtin_ia32_cvtpd2ps256(low), b = __builtin_ia32_cvtpd2ps256(high);
    return __builtin_shufflevector(a, b, HONE_FROM32(0));
#elif HONE_X86 == 128
    const vf32 a = __builtin_ia32_cvtpd2ps(low), b = __builtin_ia32_cvtpd2ps(high);
    return __builtin_shufflevector(a, b, 0, 1, 4, 5);
#else
    const hone_half32 a = __builtin_convertvector(low, hone_half32);
    const hone_half32 b = __builtin_convertvector(high, hone_half32);
    return __builtin_shufflevector(a, b, HONE_FROM32(0));
#endif
}

//@ fma: convert
/* a*b + c rounded once, whatever -ffp-contract says. */
HONE_INLINE vf32
vf32_fma(vf32 a, vf32 b, vf32 c)
{
#if HONE_X86 == 512
    return __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4);
#elif HONE_X86 == 256 && defined __FMA__
    return __builtin_ia32_vfmaddps256(a, b, c);
#elif HONE_X86 == 128 && defined __FMA__
    return __builtin_ia32_vfmaddps(a, b, c);
#else
    return vf32_of_f64(vf64_of_low(a) * vf64_of_low(b) + vf64_of_low(c),
                       vf64_of_high(a) * vf64_of_high(b) + vf64_of_high(c));
#endif
}

//@ words: order
/* 16-bit words and bytes from and to 32-bit lanes. */
typedef int16_t hone_i16 HONE_VECTOR(HONE_VECTOR_BYTES / 2, 1);
typedef uint16_t hone_u16 HONE_VECTOR(HONE_VECTOR_BYTES / 2, 1);
typedef int16_t hone_words HONE_VECTOR(HONE_VECTOR_BYTES, 1);
HONE_INLINE vi32
hone_load_words(const void *p)
{
#if HONE_X86 == 512
    typedef short words __attribute__((vector_size(32)));
    return (vi32)__builtin_ia32_pmovzxwd512_mask((words) * (const hone_i16 *)p, (vi32){0}, -1);
#elif HONE_X86 == 256
    typedef short words __attribute__((vector_size(16)));
    return (vi32)__builtin_ia32_pmovzxwd256((words) * (const hone_i16 *)p);
#else
    return (vi32) __builtin_convertvector(*(const hone_u16 *)p, vu32);
#endif
}
/* The lower words. */
HONE_INLINE void
hone_store_words(void *p, vi32 x)
{
    const hone_words words = (hone_words)x;
    *(hone_i16 *)p = __builtin_shufflevector(words, words, HONE_EVEN);
}

//@ bf16: words copy
/* To nearest even; a NaN stays one. */
HONE_INLINE vf32
vf32_load_bf16(const uint16_t *p)
{
    return (vf32)(hone_load_words(p) << 16);
}
HONE_INLINE void
vf32_store_bf16(uint16_t *p, vf32 x)
{
    const vu32 bits = (vu32)x;
    const vi32 nan = ((vi32)bits & 0x7fffffff) > 0x7f800000;
    const vi32 rounded = (vi32)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    const vi32 kept = (vi32)(bits >> 16 | 64);
    hone_store_words(p, (kept & nan) | (rounded & ~nan));
}
HONE_INLINE vf32
vf32_load_bf16_tail(const uint16_t *p, ptrdiff_t n)
{
    uint16_t words[VF32] = {0};
    hone_copy(words, p, 2 * hone_between(n, VF32));
    return vf32_load_bf16(words);
}
HONE_INLINE void
vf32_store_bf16_tail(uint16_t *p, vf32 x, ptrdiff_t n)
{
    uint16_t words[VF32];
    vf32_store_bf16(words, x);
    hone_copy(p, words, 2 * hone_between(n, VF32));
}

//@ f16: words copy select
/* p points to _Float16. To nearest even. */
HONE_INLINE vf32
vf32_load_f16(const void *p)
{
#if HONE_X86 == 512
    typedef short words __attribute__((vector_size(32)));
    return __builtin_ia32_vcvtph2ps512_mask((words) * (const hone_i16 *)p, (vf32){0}, -1, 4);
#elif HONE_X86 == 256 && defined __F16C__
    typedef short words __attribute__((vector_size(16)));
    return __builtin_ia32_vcvtph2ps256((words) * (const hone_i16 *)p);
#elif HONE_X86 == 128 && defined __F16C__
    typedef short words __attribute__((vector_size(16)));
    typedef long long pair __attribute__((vector_size(16)));
    int64_t four;
    memcpy(&four, p, 8);
    return __builtin_ia32_vcvtph2ps((words)(pair){four, 0});
#else
    const vi32 h = hone_load_words(p), size = h & 0x7fff;
    const vf32 finite = (vf32)(size << 13) * 0x1p112f; /* also right for denormals */
    const vi32 beyond = (size >= 0x7c00) & 0x7f800000;
    return (vf32)((vi32)finite | beyond | (h << 16 & INT32_MIN));
#endif
}
HONE_INLINE void
vf32_store_f16(void *p, vf32 x)
{
#if HONE_X86 == 512
    typedef short words __attribute__((vector_size(32)));
    *(hone_i16 *)p = (hone_i16)__builtin_ia32_vcvtps2ph512_mask(x, 0, (words){0}, -1);
#elif HONE_X86 == 256 && defined __F16C__
    *(hone_i16 *)p = (hone_i16)__builtin_ia32_vcvtps2ph256(x, 0);
#elif HONE_X86 == 128 && defined __F16C__
    typedef long long pair __attribute__((vector_size(16)));
    const int64_t four = ((pair)__builtin_ia32_vcvtps2ph(x, 0))[0];
    memcpy(p, &four, 8);
#else
    const vi32 size = (vi32)x & 0x7fffffff, sign = (vi32)x >> 16 & 0x8000;
    const vi32 normal = (size - 0x37fff001 + (size >> 13 & 1)) >> 13;
    const vi32 small = (vi32)HONE_KEEP((vf32)size + 0.5f) - 0x3f000000; /* the sum rounds */
    const vi32 beyond = 0x7c00 | (0x200 & (size > 0x7f800000));
    const vi32 finite = vi32_select(size < 0x38800000, small, normal);
    hone_store_words(p, sign | vi32_select(size >= 0x47800000, beyond, finite));
#endif
}
HONE_INLINE vf32
vf32_load_f16_tail(const void *p, ptrdiff_t n)
{
    uint16_t words[VF32] = {0};
    hone_copy(words, p, 2 * hone_between(n, VF32));
    return vf32_load_f16(words);
}
HONE_INLINE void
vf32_store_f16_tail(void *p, vf32 x, ptrdiff_t n)
{
    uint16_t words[VF32];
    vf32_store_f16(words, x);
    hone_copy(p, words, 2 * hone_between(n, VF32));
}

//@ bytes: order copy convert
typedef int8_t hone_i8 HONE_VECTOR(HONE_VECTOR_BYTES / 4, 1);
typedef uint8_t hone_u8 HONE_VECTOR(HONE_VECTOR_BYTES / 4, 1);
typedef int8_t hone_bytes HONE_VECTOR(HONE_VECTOR_BYTES, 1);
HONE_INLINE vi32
vi32_load_i8(const int8_t *p)
{
#if HONE_X86 == 512
    typedef char bytes __attribute__((vector_size(16)));
    return (vi32)__builtin_ia32_pmovsxbd512_mask((bytes) * (const hone_i8 *)p, (vi32){0}, -1);
#elif HONE_X86
    typedef char bytes __attribute__((vector_size(16)));
    typedef long long pair __attribute__((vector_size(16)));
    int64_t some = 0;
    memcpy(&some, p, VI32);
#if HONE_X86 == 256
    return (vi32)__builtin_ia32_pmovsxbd256((bytes)(pair){some, 0});
#else
    return (vi32)__builtin_ia32_pmovsxbd128((bytes)(pair){some, 0});
#endif
#else
    return __builtin_convertvector(*(const hone_i8 *)p, vi32);
#endif
}
HONE_INLINE vi32
vi32_load_u8(const uint8_t *p)
{
#if HONE_X86 == 512
    typedef char bytes __attribute__((vector_size(16)));
    return (vi32)__builtin_ia32_pmovzxbd512_mask((bytes) * (const hone_u8 *)p, (vi32){0}, -1);
#elif HONE_X86
    typedef char bytes __attribute__((vector_size(16)));
    typedef long long pair __attribute__((vector_size(16)));
    int64_t some = 0;
    memcpy(&some, p, VI32);
#if HONE_X86 == 256
    return (vi32)__builtin_ia32_pmovzxbd256((bytes)(pair){some, 0});
#else
    return (vi32)__builtin_ia32_pmovzxbd128((bytes)(pair){some, 0});
#endif
#else
    return __builtin_convertvector(*(const hone_u8 *)p, vi32);
#endif
}
/* 0 or 1. */
HONE_INLINE vi32
vi32_load_bool(const uint8_t *p)
{
    return vi32_load_u8(p);
}
/* Wraps, as the language does. */
HONE_INLINE void
vi32_store_i8(int8_t *p, vi32 x)
{
    const hone_bytes bytes = (hone_bytes)x;
    *(hone_i8 *)p = __builtin_shufflevector(bytes, bytes, HONE_FOURTH);
}
HONE_INLINE void
vi32_store_u8(uint8_t *p, vi32 x)
{
    vi32_store_i8((int8_t *)p, x);
}
/* x != 0; a mask, too, is stored as 0 or 1. */
HONE_INLINE void
vi32_store_bool(uint8_t *p, vi32 x)
{
    vi32_store_i8((int8_t *)p, (x != 0) & 1);
}
HONE_INLINE vf32
vf32_load_i8(const int8_t *p)
{
    return vf32_of_i32(vi32_load_i8(p));
}
HONE_INLINE vf32
vf32_load_u8(const uint8_t *p)
{
    return vf32_of_i32(vi32_load_u8(p));
}
HONE_INLINE vf32
vf32_load_bool(const uint8_t *p)
{
    return vf32_of_i32(vi32_load_u8(p));
}
/* Toward zero, then as integers. */
HONE_INLINE void
vf32_store_i8(int8_t *p, vf32 x)
{
    vi32_store_i8(p, vi32_of_f32(x));
}
HONE_INLINE void
vf32_store_u8(uint8_t *p, vf32 x)
{
    vi32_store_u8(p, vi32_of_f32(x));
}
HONE_INLINE void
vf32_store_bool(uint8_t *p, vf32 x)
{
    vi32_store_bool(p, x != 0);
}

//@ byte_tails: bytes
HONE_INLINE vi32
vi32_load_i8_tail(const int8_t *p, ptrdiff_t n)
{
    int8_t bytes[VI32] = {0};
    hone_copy(bytes, p, hone_between(n, VI32));
    return vi32_load_i8(bytes);
}
HONE_INLINE vi32
vi32_load_u8_tail(const uint8_t *p, ptrdiff_t n)
{
    uint8_t bytes[VI32] = {0};
    hone_copy(bytes, p, hone_between(n, VI32));
    return vi32_load_u8(bytes);
}
HONE_INLINE vi32
vi32_load_bool_tail(const uint8_t *p, ptrdiff_t n)
{
    return vi32_load_u8_tail(p, n);
}
HONE_INLINE void
vi32_store_i8_tail(int8_t *p, vi32 x, ptrdiff_t n)
{
    int8_t bytes[VI32];
    vi32_store_i8(bytes, x);
    hone_copy(p, bytes, hone_between(n, VI32));
}
HONE_INLINE void
vi32_store_u8_tail(uint8_t *p, vi32 x, ptrdiff_t n)
{
    vi32_store_i8_tail((int8_t *)p, x, n);
}
HONE_INLINE void
vi32_store_bool_tail(uint8_t *p, vi32 x, ptrdiff_t n)
{
    vi32_store_i8_tail((int8_t *)p, (x != 0) & 1, n);
}
HONE_INLINE vf32
vf32_load_i8_tail(const int8_t *p, ptrdiff_t n)
{
    return vf32_of_i32(vi32_load_i8_tail(p, n));
}
HONE_INLINE vf32
vf32_load_u8_tail(const uint8_t *p, ptrdiff_t n)
{
    return vf32_of_i32(vi32_load_u8_tail(p, n));
}
HONE_INLINE vf32
vf32_load_bool_tail(const uint8_t *p, ptrdiff_t n)
{
    return vf32_of_i32(vi32_load_u8_tail(p, n));
}
HONE_INLINE void
vf32_store_i8_tail(int8_t *p, vf32 x, ptrdiff_t n)
{
    vi32_store_i8_tail(p, vi32_of_f32(x), n);
}
HONE_INLINE void
vf32_store_u8_tail(uint8_t *p, vf32 x, ptrdiff_t n)
{
    vi32_store_u8_tail(p, vi32_of_f32(x), n);
}
HONE_INLINE void
vf32_store_bool_tail(uint8_t *p, vf32 x, ptrdiff_t n)
{
    vi32_store_bool_tail(p, x != 0, n);
}

//@ fold: order
/* HONE_FOLD(x, lanes, join): all lanes joined, in every lane, in halving steps. */
#define HONE_SWAP1_2 1, 0
#define HONE_SWAP1_4 1, 0, 3, 2
#define HONE_SWAP1_8 HONE_SWAP1_4, 5, 4, 7, 6
#define HONE_SWAP1_16 HONE_SWAP1_8, 9, 8, 11, 10, 13, 12, 15, 14
#define HONE_SWAP2_4 2, 3, 0, 1
#define HONE_SWAP2_8 HONE_SWAP2_4, 6, 7, 4, 5
#define HONE_SWAP2_16 HONE_SWAP2_8, 10, 11, 8, 9, 14, 15, 12, 13
#define HONE_SWAP4_8 HONE_FROM_4(4), HONE_FROM_4(0)
#define HONE_SWAP4_16 HONE_SWAP4_8, HONE_FROM_4(12), HONE_FROM_4(8)
#define HONE_SWAP8_16 HONE_FROM_8(8), HONE_FROM_8(0)
#define HONE_FOLD_2(x, join) (x) = join(x, __builtin_shufflevector(x, x, HONE_SWAP1_2))
#define HONE_FOLD_4(x, join)                                    \
    (x) = join(x, __builtin_shufflevector(x, x, HONE_SWAP2_4)), \
    (x) = join(x, __builtin_shufflevector(x, x, HONE_SWAP1_4))
#define HONE_FOLD_8(x, join)                                    \
    (x) = join(x, __builtin_shufflevector(x, x, HONE_SWAP4_8)), \
    (x) = join(x, __builtin_shufflevector(x, x, HONE_SWAP2_8)), \
    (x) = join(x, __builtin_shufflevector(x, x, HONE_SWAP1_8))
#define HONE_FOLD_16(x, join)                                    \
    (x) = join(x, __builtin_shufflevector(x, x, HONE_SWAP8_16)), \
    (x) = join(x, __builtin_shufflevector(x, x, HONE_SWAP4_16)), \
    (x) = join(x, __builtin_shufflevector(x, x, HONE_SWAP2_16)), \
    (x) = join(x, __builtin_shufflevector(x, x, HONE_SWAP1_16))
#if HONE_VECTOR_BYTES == 64
#define HONE_FOLD32 HONE_FOLD_16
#define HONE_FOLD64 HONE_FOLD_8
#elif HONE_VECTOR_BYTES == 32
#define HONE_FOLD32 HONE_FOLD_8
#define HONE_FOLD64 HONE_FOLD_4
#else
#define HONE_FOLD32 HONE_FOLD_4
#define HONE_FOLD64 HONE_FOLD_2
#endif
#define HONE_PLUS(a, b) (a) + (b)
#define HONE_TIMES(a, b) (a) * (b)

//@ hsum: fold
/* Over the lanes. */
HONE_INLINE float
vf32_hsum(vf32 x)
{
    HONE_FOLD32(x, HONE_PLUS);
    return x[0];
}
HONE_INLINE float
vf32_hprod(vf32 x)
{
    HONE_FOLD32(x, HONE_TIMES);
    return x[0];
}
HONE_INLINE double
vf64_hsum(vf64 x)
{
    HONE_FOLD64(x, HONE_PLUS);
    return x[0];
}
HONE_INLINE double
vf64_hprod(vf64 x)
{
    HONE_FOLD64(x, HONE_TIMES);
    return x[0];
}
HONE_INLINE int32_t
vi32_hsum(vi32 a)
{
    vu32 x = (vu32)a;
    HONE_FOLD32(x, HONE_PLUS);
    return (int32_t)x[0];
}
HONE_INLINE int32_t
vi32_hprod(vi32 a)
{
    vu32 x = (vu32)a;
    HONE_FOLD32(x, HONE_TIMES);
    return (int32_t)x[0];
}

//@ hmax: fold maxmin
HONE_INLINE float
vf32_hmax(vf32 x)
{
    HONE_FOLD32(x, vf32_max);
    return x[0];
}
HONE_INLINE float
vf32_hmin(vf32 x)
{
    HONE_FOLD32(x, vf32_min);
    return x[0];
}
HONE_INLINE double
vf64_hmax(vf64 x)
{
    HONE_FOLD64(x, vf64_max);
    return x[0];
}
HONE_INLINE double
vf64_hmin(vf64 x)
{
    HONE_FOLD64(x, vf64_min);
    return x[0];
}
HONE_INLINE int32_t
vi32_hmax(vi32 x)
{
    HONE_FOLD32(x, vi32_max);
    return x[0];
}
HONE_INLINE int32_t
vi32_hmin(vi32 x)
{
    HONE_FOLD32(x, vi32_min);
    return x[0];
}

//@ scan: order
/* Lane i: the sum of lanes 0 to i. Lanes move up by 1, 2, 4, 8; zeros enter. With masks the last
 * lane of each half is added to the other half instead, by cheaper shuffles. */
HONE_INLINE vf32
vf32_scan_add(vf32 x)
{
#if HONE_X86 == 512
#define HONE_ADD_LAST(mask, ...) \
    x = __builtin_ia32_addps512_mask(x, __builtin_shufflevector(x, x, __VA_ARGS__), x, mask, 4)
    HONE_ADD_LAST((short)0xaaaa, 0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14);
    HONE_ADD_LAST((short)0xcccc, 1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9, 13, 13, 13, 13);
    HONE_ADD_LAST((short)0xf0f0, 3, 3, 3, 3, 3, 3, 3, 3, 11, 11, 11, 11, 11, 11, 11, 11);
    HONE_ADD_LAST((short)0xff00, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7);
    return x;
#else
    const vf32 zero = {0};
    x += __builtin_shufflevector(zero, x, HONE_FROM32(VF32 - 1));
    x += __builtin_shufflevector(zero, x, HONE_FROM32(VF32 - 2));
#if HONE_VECTOR_BYTES >= 32
    x += __builtin_shufflevector(zero, x, HONE_FROM32(VF32 - 4));
#endif
#if HONE_VECTOR_BYTES >= 64
    x += __builtin_shufflevector(zero, x, HONE_FROM32(VF32 - 8));
#endif
    return x;
#endif
}
HONE_INLINE vi32
vi32_scan_add(vi32 a)
{
    const vu32 zero = {0};
    vu32 x = (vu32)a;
    x += __builtin_shufflevector(zero, x, HONE_FROM32(VI32 - 1));
    x += __builtin_shufflevector(zero, x, HONE_FROM32(VI32 - 2));
#if HONE_VECTOR_BYTES >= 32
    x += __builtin_shufflevector(zero, x, HONE_FROM32(VI32 - 4));
#endif
#if HONE_VECTOR_BYTES >= 64
    x += __builtin_shufflevector(zero, x, HONE_FROM32(VI32 - 8));
#endif
    return (vi32)x;
}
HONE_INLINE vf64
vf64_scan_add(vf64 x)
{
    const vf64 zero = {0};
    x += __builtin_shufflevector(zero, x, HONE_FROM64(VF64 - 1));
#if HONE_VECTOR_BYTES >= 32
    x += __builtin_shufflevector(zero, x, HONE_FROM64(VF64 - 2));
#endif
#if HONE_VECTOR_BYTES >= 64
    x += __builtin_shufflevector(zero, x, HONE_FROM64(VF64 - 4));
#endif
    return x;
}
/* Every lane: the last one. */
HONE_INLINE vf32
vf32_last(vf32 x)
{
    return __builtin_shuffle(x, (vi32){0} + (VF32 - 1));
}
HONE_INLINE vf64
vf64_last(vf64 x)
{
    return __builtin_shuffle(x, (vi64){0} + (VF64 - 1));
}

//@ exp_parts: convert round
/* x = n ln 2 + r, |r| <= ln 2 / 2: gives e^r - 1. */
HONE_INLINE vf32
hone_exp_rest(vf32 x, vf32 n)
{
    const vf32 r = HONE_KEEP(HONE_KEEP(x - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f);
    vf32 p = r * 0x1.6d7214p-10f + 0x1.122676p-7f;
    p = p * r + 0x1.5554c8p-5f;
    p = p * r + 0x1.5554b2p-3f;
    p = p * r + 0.5f;
    return p * (r * r) + r;
}
/* And n. Any x, but only |x| < 1000 has a meaning. */
HONE_INLINE vf32
hone_exp_parts(vf32 x, vf32 *n)
{
    *n = vf32_round(x * 0x1.715476p0f);
    return hone_exp_rest(x, *n);
}
/* y * 2^n. AVX-512 has an instruction that knows what lies below the smallest normal number and
 * above the largest; elsewhere it is done by the exponent's bits, and the result must be normal. */
HONE_INLINE vf32
hone_scale(vf32 y, vf32 n)
{
#if HONE_X86 == 512
    return __builtin_ia32_scalefps512_mask(y, n, y, -1, 4);
#else
    return (vf32)((vu32)y + ((vu32)vi32_of_f32(n) << 23));
#endif
}
/* 2^n, n from -126 to 127; a NaN gives 1. */
HONE_INLINE vf32
hone_power(vf32 n)
{
    return hone_scale(vf32_all(1), n);
}
/* e^x, -87 <= x <= 88, or a NaN. */
HONE_INLINE vf32
hone_exp_near(vf32 x)
{
    vf32 n;
    const vf32 q = hone_exp_parts(x, &n);
    return hone_scale(1 + q, n);
}

//@ exp: exp_parts select maxmin
/* Below the smallest normal number: 0. */
HONE_INLINE vf32
vf32_exp(vf32 x)
{
    const vf32 least = vf32_all(-0x1.5d589ep6f);
#if HONE_X86 == 512
    enum { NOT_LESS = 5 };
    vf32 n;
    const vf32 y = 1 + hone_exp_parts(vf32_min(vf32_all(89), x), &n);
    const uint16_t some = (uint16_t)__builtin_ia32_cmpps512_mask(x, least, NOT_LESS, -1, 4);
    return __builtin_ia32_scalefps512_mask(y, n, (vf32){0}, some, 4);
#else
    const vf32 y = vf32_select(x > 0x1.62e42ep6f, vf32_all(__builtin_inff()), hone_exp_near(x));
    return (vf32)((vi32)y & ~(x < least));
#endif
}

//@ exp2: exp_parts select
HONE_INLINE vf32
vf32_exp2(vf32 x)
{
    const vf32 n = vf32_round(x), r = x - n;
    vf32 p = r * 0x1.416b52p-13f + 0x1.5f082ep-10f;
    p = p * r + 0x1.3b2de0p-7f;
    p = p * r + 0x1.c6af7cp-5f;
    p = p * r + 0x1.ebfbdcp-3f;
    p = p * r + 0x1.62e430p-1f;
    const vf32 y = hone_scale(p * r + 1, n);
    const vf32 z = vf32_select(x >= 128.0f, vf32_all(__builtin_inff()), y);
    return (vf32)((vi32)z & ~(x < -126.0f));
}

//@ expm1: exp_parts maxmin
/* (2^n - 1) + 2^n (e^r - 1), halved until the end: there, and not before, it overflows. Added to
 * 1.5 * 2^23 + 126, n is rounded, and its last bits are the exponent of 2^(n-1). */
#define HONE_HALVES (0x1.8p23f + 126)
HONE_INLINE vf32
vf32_expm1(vf32 x)
{
    const vf32 near = vf32_max(vf32_all(-30), vf32_min(vf32_all(88.75f), x));
    const vf32 magic = HONE_KEEP(near * 0x1.715476p0f + HONE_HALVES);
    const vf32 q = hone_exp_rest(near, HONE_KEEP(magic - HONE_HALVES));
    const vf32 s = (vf32)((vu32)magic << 23);
    const vf32 y = 2 * (HONE_KEEP(s - 0.5f) + s * q);
    return (vf32)((vi32)y | ((vi32)x & INT32_MIN));
}

//@ sigmoid: exp_parts maxmin
/* Where e^-x would leave the normal numbers: 0, and 1. */
HONE_INLINE vf32
vf32_sigmoid(vf32 x)
{
    const vf32 least = vf32_all(-0x1.5d589ep6f);
    const vf32 near = vf32_max(least, vf32_min(vf32_all(87), x));
    return (vf32)((vi32)(1 / (1 + hone_exp_near(-near))) & ~(x < least));
}

//@ tanh: exp_parts maxmin abs
/* u / (u + 2), u = e^2x - 1, which keeps its digits near 0; from 10 on it is 1. */
HONE_INLINE vf32
vf32_tanh(vf32 x)
{
    vf32 n;
    const vf32 a = vf32_min(vf32_all(10), vf32_abs(x));
    const vf32 q = hone_exp_parts(a + a, &n), s = hone_power(n);
    const vf32 u = HONE_KEEP(s - 1) + s * q;
    return vf32_copysign(u / (u + 2), x);
}

//@ sinh: exp_parts select maxmin abs
/* e^|x| / 2. */
HONE_INLINE vf32
hone_exp_half(vf32 a)
{
    vf32 n;
    const vf32 q = hone_exp_parts(a, &n);
    return vf32_select(a > 0x1.65a9f8p6f, vf32_all(__builtin_inff()), hone_scale(1 + q, n - 1));
}
/* e^-|x| / 2. Not 0.25 / infinity: -ffast-math has no such quotient. */
HONE_INLINE vf32
hone_exp_other(vf32 half)
{
    return 0.25f / vf32_min(vf32_all(0x1p100f), half);
}
HONE_INLINE vf32
vf32_sinh(vf32 x)
{
    const vf32 a = vf32_abs(x), z = a * a, half = hone_exp_half(a);
    vf32 p = z * 0x1.75a6f4p-19f + 0x1.a02156p-13f;
    p = p * z + 0x1.1110e2p-7f;
    p = p * z + 0x1.555556p-3f;
    return vf32_copysign(vf32_select(a < 1.0f, p * z * a + a, half - hone_exp_other(half)), x);
}
HONE_INLINE vf32
vf32_cosh(vf32 x)
{
    const vf32 half = hone_exp_half(vf32_abs(x));
    return half + hone_exp_other(half);
}

//@ erf: maxmin abs
/* 1 - r^4, r = 1 + t the fourth root of 1 - erf and t a polynomial without a constant: 1 - r^4 =
 * -(s s + 2s), s = t t + 2t, keeps its digits near 0. What is wrong with r counts less the nearer
 * erf is to 1, and no exponential is needed. */
HONE_INLINE vf32
vf32_erf(vf32 x)
{
    const vf32 a = vf32_min(vf32_all(3.92f), vf32_abs(x));
    vf32 q = a * 0x1.69dfc4p-19f - 0x1.27ea7ep-15f;
    q = q * a + 0x1.080506p-13f;
    q = q * a + 0x1.e97652p-13f;
    q = q * a - 0x1.04ca08p-9f;
    q = q * a - 0x1.34dc94p-10f;
    q = q * a + 0x1.30d304p-6f;
    q = q * a + 0x1.fad354p-7f;
    q = q * a - 0x1.e8ecf6p-4f;
    q = q * a - 0x1.20dd74p-2f;
    const vf32 t = q * a, s = t * t + (t + t);
    return vf32_copysign(s * s + (s + s), x);
}

//@ log_parts: select convert
/* log(1 + f) - f, f from -1/4 to 1/2. */
HONE_INLINE vf32
hone_log_rest(vf32 f)
{
    const vf32 z = f * f;
    vf32 p = f * -0x1.7140b6p-5f + 0x1.ac90bep-4f;
    p = p * f - 0x1.0d8a90p-3f;
    p = p * f + 0x1.28847ep-3f;
    p = p * f - 0x1.54efdcp-3f;
    p = p * f + 0x1.9969b0p-3f;
    p = p * f - 0x1.000040p-2f;
    p = p * f + 0x1.5555a2p-2f;
    return p * (f * z) - 0.5f * z;
}
/* x = 2^e (1 + f), f from -1/4 to 1/2; x normal. Gives f. */
HONE_INLINE vf32
hone_log_parts(vf32 x, vi32 *e)
{
    const vi32 bits = (vi32)((vu32)x - 0x3f400000);
    *e = bits >> 23;
    return HONE_KEEP((vf32)((bits & 0x7fffff) + 0x3f400000) - 1);
}
/* The same with e as a number, for any x. AVX-512's instructions know denormals; of 0 and of
 * infinity they give infinite exponents, which thus come out right, and of what is below 0 NaN. */
HONE_INLINE vf32
hone_log_split(vf32 x, vf32 *e)
{
#if HONE_X86 == 512
    const vf32 m = __builtin_ia32_getmantps512_mask(x, 11, x, -1, 4);
    const vf32 high = __builtin_ia32_getexpps512_mask(m, m, -1, 4);
    *e = HONE_KEEP(__builtin_ia32_getexpps512_mask(x, x, -1, 4) - high);
    return HONE_KEEP(m - 1);
#else
    const vi32 tiny = x < 0x1p-126f;
    vi32 n;
    const vf32 f = hone_log_parts(vf32_select(tiny, x * 0x1p23f, x), &n);
    *e = vf32_of_i32(n - (tiny & 23));
    return f;
#endif
}
/* What a logarithm is at 0, below and at infinity. */
HONE_INLINE vf32
hone_log_ends(vf32 x, vf32 y)
{
#if HONE_X86 == 512
    (void)x;
    return y;
#else
    const vf32 inf = vf32_all(__builtin_inff());
    const vf32 end = vf32_select(x < 0, vf32_all(__builtin_nanf("")), x);
    return vf32_select((x > 0) & (x < inf), y, vf32_select(x == 0, -inf, end));
#endif
}

//@ log: log_parts
HONE_INLINE vf32
vf32_log(vf32 x)
{
    vf32 n;
    const vf32 f = hone_log_split(x, &n);
    const vf32 rest = hone_log_rest(f) + n * 0x1.7f7d1cp-20f;
    return hone_log_ends(x, HONE_KEEP(f + rest) + n * 0x1.62e4p-1f);
}

//@ log2: log_parts
HONE_INLINE vf32
vf32_log2(vf32 x)
{
    vf32 n;
    const vf32 f = hone_log_split(x, &n);
    const vf32 rest = hone_log_rest(f), k = vf32_all(0x1.c551dap-2f); /* log2(e) - 1 */
    const vf32 y = HONE_KEEP(HONE_KEEP(rest * k + f * k) + rest) + f;
    return hone_log_ends(x, HONE_KEEP(y) + n);
}

//@ log1p: log_parts abs
/* The part of x that 1 + x loses is added to f. */
HONE_INLINE vf32
hone_log1p_above(vf32 x)
{
    const vf32 u = HONE_KEEP(1 + x);
    const vf32 lost =
        vf32_select(x < 1.0f, HONE_KEEP(x - HONE_KEEP(u - 1)), HONE_KEEP(1 - HONE_KEEP(u - x)));
    vi32 e;
    const vf32 m = hone_log_parts(u, &e), n = vf32_of_i32(e);
    const vi32 shift = 127 - e, back = (shift & ~(shift >> 31)) << 23; /* of 2^-e; 2^-128: 0 */
    const vf32 f = m + lost * (vf32)back;
    const vf32 rest = hone_log_rest(f) + n * 0x1.7f7d1cp-20f;
    return HONE_KEEP(f + rest) + n * 0x1.62e4p-1f;
}
HONE_INLINE vf32
vf32_log1p(vf32 x)
{
    const vf32 inf = vf32_all(__builtin_inff());
    const vf32 end = vf32_select(x < -1.0f, vf32_all(__builtin_nanf("")), x);
    const vf32 y = vf32_select((x > -1.0f) & (x < inf), hone_log1p_above(x),
                               vf32_select(x == -1.0f, -inf, end));
    return (vf32)((vi32)y | ((vi32)x & INT32_MIN));
}

//@ softplus: exp abs maxmin
/* max(x, 0) + log(1 + t), t = e^-|x|: between 0 and 1 log(1 + t)/t is a polynomial, whose terms
 * fall off quickly around the middle. Above 20 it is x, as the language has it. */
HONE_INLINE vf32
vf32_softplus(vf32 x)
{
    const vf32 t = vf32_exp(-vf32_abs(x)), w = t - 0.5f;
    vf32 p = w * -0x1.a93370p-9f + 0x1.58489ap-8f;
    p = p * w - 0x1.ba5cb8p-8f;
    p = p * w + 0x1.7b53cap-7f;
    p = p * w - 0x1.510612p-6f;
    p = p * w + 0x1.2c1e28p-5f;
    p = p * w - 0x1.153fb2p-4f;
    p = p * w + 0x1.0f9550p-3f;
    p = p * w - 0x1.2773a6p-2f;
    p = p * w + 0x1.9f323ep-1f;
    return vf32_max(vf32_all(0), x) + p * t;
}

//@ atan: select maxmin abs
HONE_INLINE vf32
vf32_atan(vf32 x)
{
    const vf32 a = vf32_min(vf32_all(0x1p100f), vf32_abs(x)); /* it has an inverse */
    const vi32 far = a > 1.0f;
    const vf32 t = vf32_select(far, -1 / a, a), z = t * t;
    vf32 p = z * -0x1.d34beep-10f + 0x1.641ee0p-7f;
    p = p * z - 0x1.fd7a2ap-6f;
    p = p * z + 0x1.da28ccp-5f;
    p = p * z - 0x1.5808eap-4f;
    p = p * z + 0x1.c08c48p-4f;
    p = p * z - 0x1.242086p-3f;
    p = p * z + 0x1.9991e4p-3f;
    p = p * z - 0x1.55553ep-2f;
    const vf32 low = (vf32)((vi32)vf32_all(-0x1.777a5cp-25f) & far);
    const vf32 high = (vf32)((vi32)vf32_all(0x1.921fb6p0f) & far);
    return vf32_copysign(high + HONE_KEEP(p * z * t + low + t), x);
}

//@ quarter: convert order
/* d = n pi/2 + r, |d| <= 2^20: gives r. n is *k's lowest bits. */
HONE_INLINE vf64
hone_quarter(vf64 d, vi64 *k)
{
    const vf64 magic = HONE_KEEP(d * 0x1.45f306dc9c883p-1 + 0x1.8p52);
    const vf64 n = HONE_KEEP(magic - 0x1.8p52);
    *k = (vi64)magic;
    return HONE_KEEP(HONE_KEEP(d - n * 0x1.921fb5p0) - n * 0x1.110b4611a6263p-26);
}

//@ sin: quarter select abs any
#include <math.h>
/* libm, for arguments beyond 2^20 and what is no number; other lanes keep what they have, since no
 * lane may depend on its neighbours, which at the end of an array can be anything. */
static __attribute__((noinline, cold, unused)) void
hone_sin_far(const vf32 *x, vf32 *y, int which)
{
    for (int i = 0; i < VF32; i++)
        if (!(fabsf((*x)[i]) <= 0x1p20f))
            (*y)[i] = which == 0 ? sinf((*x)[i]) : which == 1 ? cosf((*x)[i]) : tanf((*x)[i]);
}
HONE_INLINE int
hone_is_far(vf32 x)
{
    return __builtin_expect(vi32_any(~(vf32_abs(x) <= 0x1p20f)), 0);
}
HONE_INLINE vf32
hone_sin_near(vf32 x, int which)
{
    vi64 low, high;
    const vf64 a = hone_quarter(vf64_of_low(x), &low), b = hone_quarter(vf64_of_high(x), &high);
    const vu32 k = __builtin_shufflevector((vu32)low, (vu32)high, HONE_EVEN);
    const vi32 n = (vi32)(k + (unsigned)which);
    const vf32 r = vf32_of_f64(a, b), z = r * r;
    vf32 s = z * 0x1.7cd428p-19f - 0x1.a05bb2p-13f;
    s = s * z + 0x1.111176p-7f;
    s = s * z - 0x1.555556p-3f;
    vf32 c = z * 0x1.99e0ecp-16f - 0x1.6c0c1ap-10f;
    c = c * z + 0x1.55554ap-5f;
    const vf32 y = vf32_select(-(n & 1), c * (z * z) + (1 - 0.5f * z), s * z * r + r);
    return (vf32)((vi32)y ^ ((n & 2) << 30));
}
HONE_INLINE vf32
vf32_sin(vf32 x)
{
    const vf32 y = vf32_select(vf32_abs(x) < 0x1p-12f, x, hone_sin_near(x, 0));
    if (hone_is_far(x)) {
        vf32 far = x, all = y;
        hone_sin_far(&far, &all, 0);
        return all;
    }
    return y;
}
HONE_INLINE vf32
vf32_cos(vf32 x)
{
    const vf32 y = hone_sin_near(x, 1);
    if (hone_is_far(x)) {
        vf32 far = x, all = y;
        hone_sin_far(&far, &all, 1);
        return all;
    }
    return y;
}

//@ tan: sin
/* In double: sin/cos, or -cos/sin. */
HONE_INLINE vf64
hone_tan(vf64 d)
{
    vi64 k;
    const vf64 r = hone_quarter(d, &k), z = r * r;
    vf64 s = z * 0x1.6cd732ad214f4p-19 - 0x1.a00f98e399df7p-13;
    s = s * z + 0x1.1111089073d6fp-7;
    s = s * z - 0x1.5555554cb1fb6p-3;
    s = s * z * r + r;
    vf64 c = z * -0x1.2429fc080a918p-22 + 0x1.a0111c15e3b39p-16;
    c = c * z - 0x1.6c16b892b8c68p-10;
    c = c * z + 0x1.5555554f48bcbp-5;
    c = c * (z * z) + (1 - 0.5 * z);
    const vi64 odd = -(k & 1);
    return vf64_select(odd, -c, s) / vf64_select(odd, s, c);
}
HONE_INLINE vf32
vf32_tan(vf32 x)
{
    vf32 y = vf32_of_f64(hone_tan(vf64_of_low(x)), hone_tan(vf64_of_high(x)));
    y = vf32_select(vf32_abs(x) < 0x1p-12f, x, y);
    if (hone_is_far(x)) {
        vf32 far = x, all = y;
        hone_sin_far(&far, &all, 2);
        return all;
    }
    return y;
}

//@ pow: convert select maxmin abs round
/* log2(a), a > 0 from a float: normal here, even if it was none there. */
HONE_INLINE vf64
hone_log2_wide(vf64 a)
{
    const vu64 bits = (vu64)a - 0x3fe6a09e667f3bcd; /* of sqrt(1/2) */
    const vu64 e = (bits + 0x3ff0000000000000) >> 52;
    const vf64 n = HONE_KEEP((vf64)(e | 0x4330000000000000) - (0x1p52 + 1023));
    const vf64 m = (vf64)((bits & 0xfffffffffffff) + 0x3fe6a09e667f3bcd);
    const vf64 s = (m - 1) / (m + 1), z = s * s;
    vf64 p = z * 0x1.21b309e677cc0p-2 + 0x1.47952f3c5f402p-2;
    p = p * z + 0x1.a61a2fc0766a8p-2;
    p = p * z + 0x1.2776c2920b610p-1;
    p = p * z + 0x1.ec709dc53d566p-1;
    p = p * z + 0x1.71547652b8250p1;
    return p * s + n;
}
/* 2^x, |x| < 1000. */
HONE_INLINE vf64
hone_exp2_wide(vf64 x)
{
    const vf64 magic = HONE_KEEP(x + 0x1.8p52), r = x - HONE_KEEP(magic - 0x1.8p52);
    vf64 p = r * 0x1.00f1307077feap-16 + 0x1.445e6acc5c8c9p-13;
    p = p * r + 0x1.5d8723adfd2e7p-10;
    p = p * r + 0x1.3b29f0fd9f09bp-7;
    p = p * r + 0x1.c6b08df458823p-5;
    p = p * r + 0x1.ebfbe07ab8ed5p-3;
    p = p * r + 0x1.62e42fef7b666p-1;
    return (vf64)((vu64)(p * r + 1) + ((vu64)magic << 52));
}
HONE_INLINE vf64
hone_pow_wide(vf64 a, vf64 b)
{
    const vf64 inf = vf64_all(__builtin_inf());
    const vf64 end = vf64_select(a == 0, -inf, inf);
    const vf64 l = vf64_select((a > 0) & (a < inf), hone_log2_wide(a), end);
    return hone_exp2_wide(vf64_max(vf64_all(-999), vf64_min(vf64_all(999), b * l)));
}
/* Of the size of a, in double; then what C says of signs, zeros and what is no number. */
HONE_INLINE vf32
vf32_pow(vf32 a, vf32 b)
{
    const vf32 size = vf32_abs(a);
    const vf32 p = vf32_of_f64(hone_pow_wide(vf64_of_low(size), vf64_of_low(b)),
                               hone_pow_wide(vf64_of_high(size), vf64_of_high(b)));
    const vi32 whole = vf32_trunc(b) == b, small = vf32_abs(b) < 0x1p24f;
    const vi32 odd = whole & small & -(vi32_of_f32(b) & 1);
    const vi32 none = (a < 0) & ~whole & (size < __builtin_inff());
    const vi32 one = (b == 0) | (a == 1) | ((size == 1) & whole);
    const vf32 y = vf32_select(
        one, vf32_all(1), vf32_select(none | (a != a) | (b != b), vf32_all(__builtin_nanf("")), p));
    return (vf32)((vi32)y ^ ((vi32)a & odd & INT32_MIN));
}

//@ f64_exp: base
#include <math.h>
HONE_INLINE vf64
vf64_exp(vf64 x)
{
    for (int i = 0; i < VF64; i++)
        x[i] = exp(x[i]);
    return x;
}

//@ f64_exp2: base
#include <math.h>
HONE_INLINE vf64
vf64_exp2(vf64 x)
{
    for (int i = 0; i < VF64; i++)
        x[i] = exp2(x[i]);
    return x;
}

//@ f64_expm1: base
#include <math.h>
HONE_INLINE vf64
vf64_expm1(vf64 x)
{
    for (int i = 0; i < VF64; i++)
        x[i] = expm1(x[i]);
    return x;
}

//@ f64_log: base
#include <math.h>
HONE_INLINE vf64
vf64_log(vf64 x)
{
    for (int i = 0; i < VF64; i++)
        x[i] = log(x[i]);
    return x;
}

//@ f64_log2: base
#include <math.h>
HONE_INLINE vf64
vf64_log2(vf64 x)
{
    for (int i = 0; i < VF64; i++)
        x[i] = log2(x[i]);
    return x;
}

//@ f64_log1p: base
#include <math.h>
HONE_INLINE vf64
vf64_log1p(vf64 x)
{
    for (int i = 0; i < VF64; i++)
        x[i] = log1p(x[i]);
    return x;
}

//@ f64_sin: base
#include <math.h>
HONE_INLINE vf64
vf64_sin(vf64 x)
{
    for (int i = 0; i < VF64; i++)
        x[i] = sin(x[i]);
    return x;
}

//@ f64_cos: base
#include <math.h>
HONE_INLINE vf64
vf64_cos(vf64 x)
{
    for (int i = 0; i < VF64; i++)
        x[i] = cos(x[i]);
    return x;
}

//@ f64_tan: base
#include <math.h>
HONE_INLINE vf64
vf64_tan(vf64 x)
{
    for (int i = 0; i < VF64; i++)
        x[i] = tan(x[i]);
    return x;
}

//@ f64_atan: base
#include <math.h>
HONE_INLINE vf64
vf64_atan(vf64 x)
{
    for (int i = 0; i < VF64; i++)
        x[i] = atan(x[i]);
    return x;
}

//@ f64_sinh: base
#include <math.h>
HONE_INLINE vf64
vf64_sinh(vf64 x)
{
    for (int i = 0; i < VF64; i++)
        x[i] = sinh(x[i]);
    return x;
}

//@ f64_cosh: base
#include <math.h>
HONE_INLINE vf64
vf64_cosh(vf64 x)
{
    for (int i = 0; i < VF64; i++)
        x[i] = cosh(x[i]);
    return x;
}

//@ f64_tanh: base
#include <math.h>
HONE_INLINE vf64
vf64_tanh(vf64 x)
{
    for (int i = 0; i < VF64; i++)
        x[i] = tanh(x[i]);
    return x;
}

//@ f64_erf: base
#include <math.h>
HONE_INLINE vf64
vf64_erf(vf64 x)
{
    for (int i = 0; i < VF64; i++)
        x[i] = erf(x[i]);
    return x;
}

//@ f64_sigmoid: base
#include <math.h>
HONE_INLINE vf64
vf64_sigmoid(vf64 x)
{
    for (int i = 0; i < VF64; i++)
        x[i] = 1 / (1 + exp(-x[i]));
    return x;
}

//@ f64_softplus: base
#include <math.h>
HONE_INLINE vf64
vf64_softplus(vf64 x)
{
    for (int i = 0; i < VF64; i++)
        x[i] = x[i] > 20 ? x[i] : log1p(exp(x[i]));
    return x;
}

//@ f64_pow: base
#include <math.h>
HONE_INLINE vf64
vf64_pow(vf64 a, vf64 b)
{
    for (int i = 0; i < VF64; i++)
        a[i] = pow(a[i], b[i]);
    return a;
}

//@ end:
#endif
