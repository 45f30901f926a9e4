// task softmax.op
// Style: AVX-512 with masks where the machine has it, otherwise omp simd; last masked vector.
#if defined(__AVX512F__)
#include <immintrin.h>
static void one_row(const float *x, float *y)
{
    __m512 m = _mm512_set1_ps(-INFINITY), s = _mm512_setzero_ps();
    for (int j = 0; j < N; j += 16) {
        __mmask16 k = N - j >= 16 ? 0xffff : (__mmask16)((1u << (N - j)) - 1);
        m = _mm512_mask_max_ps(m, k, m, _mm512_maskz_loadu_ps(k, x + j));
    }
    const float most = _mm512_reduce_max_ps(m);
    for (int j = 0; j < N; j++)
        y[j] = expf(x[j] - most);
    for (int j = 0; j < N; j += 16) {
        __mmask16 k = N - j >= 16 ? 0xffff : (__mmask16)((1u << (N - j)) - 1);
        s = _mm512_add_ps(s, _mm512_maskz_loadu_ps(k, y + j));
    }
    const __m512 inv = _mm512_set1_ps(1.0f / _mm512_reduce_add_ps(s));
    for (int j = 0; j < N; j += 16) {
        __mmask16 k = N - j >= 16 ? 0xffff : (__mmask16)((1u << (N - j)) - 1);
        _mm512_mask_storeu_ps(y + j, k, _mm512_mul_ps(_mm512_maskz_loadu_ps(k, y + j), inv));
    }
}
#else
static void one_row(const float *x, float *y)
{
    float most = -INFINITY, sum = 0;
#pragma omp simd reduction(max : most)
    for (int j = 0; j < N; j++)
        most = x[j] > most ? x[j] : most;
    for (int j = 0; j < N; j++)
        y[j] = expf(x[j] - most);
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < N; j++)
        sum += y[j];
#pragma omp simd
    for (int j = 0; j < N; j++)
        y[j] /= sum;
}
#endif

void kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel for schedule(guided, 2)
    for (int r = 0; r < R; r++)
        one_row(&X[(size_t)r * N], &Y[(size_t)r * N]);
}
