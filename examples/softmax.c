/* A kernel for softmax.op, written by hand: one row at a time on each core, three passes over it
 * while it is in the cache (maximum, exponentials and their sum, division), exp by a polynomial
 * that gcc vectorises. It serves every case; hone contract cpu says what a kernel may rely on.
 *
 * It also stands alone:  gcc -O2 -march=native -fopenmp -c softmax.c
 */
#ifndef HONE
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifndef R
#define R 1024
#endif
#ifndef N
#define N 4096
#endif
void
kernel(const float *restrict X, float *restrict Y);
#endif

static inline uint32_t
bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static inline float
float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* exp(x) for x <= 0. x = n ln 2 + r: adding 1.5 * 2^23 rounds to the integer n, whose bits are then
 * the lowest ones; ln 2 in two parts keeps r exact; the polynomial is good for |r| <= ln 2 / 2, and
 * shifting n + 127 makes 2^n. At -88, n is -127 and the result 0: smaller numbers would be
 * denormal, which is slow. Negative floats are ordered like their bits, and the least of two
 * integers is one instruction, where gcc makes a branch of a comparison of floats and does not
 * vectorise. */
static inline float
exp_negative(float x)
{
    const float magic = 12582912.0f;
    const uint32_t bits = bits_of(x), least = bits_of(-88.0f);
    const float clamped = float_of(bits < least ? bits : least);
    const float shifted = clamped * 1.44269504f + magic;
    const float n = shifted - magic;
    const float r = (clamped - n * 0.693145752f) - n * 1.42860677e-6f;
    float p = 1.39219369e-3f;

    p = p * r + 8.36151931e-3f;
    p = p * r + 4.16664705e-2f;
    p = p * r + 1.66664198e-1f;
    p = p * r + 0.5f;
    p = p * r * r + r + 1.0f;
    return p * float_of((bits_of(shifted) + 127) << 23);
}

/* Under gcc's default rules a float sum keeps its order; `omp simd reduction` gives leave. */
static void
softmax_row(const float *restrict x, float *restrict y)
{
    float most = x[0], sum = 0;

#pragma omp simd reduction(max : most)
    for (int j = 0; j < N; j++)
        most = x[j] > most ? x[j] : most;
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < N; j++) {
        const float e = exp_negative(x[j] - most);
        y[j] = e;
        sum += e;
    }
    const float share = 1.0f / sum;
#pragma omp simd
    for (int j = 0; j < N; j++)
        y[j] *= share;
}

/* A few thousand elements are done before the other threads would have woken up. */
void
kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel for schedule(static) if ((int64_t)R * N > 16384)
    for (int r = 0; r < R; r++)
        softmax_row(X + (size_t)r * N, Y + (size_t)r * N);
}
