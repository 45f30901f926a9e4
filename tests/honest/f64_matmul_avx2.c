// task f64_matmul.op
// Style: __m256d dot products, four columns at once; target attribute on the function.
#include <immintrin.h>
#ifdef __AVX2__
__attribute__((target("avx2,fma"))) static double dot(const double *a, const double *b)
{
    __m256d acc = _mm256_setzero_pd();
    int k = 0;
    for (; k + 4 <= K; k += 4)
        acc = _mm256_fmadd_pd(_mm256_loadu_pd(a + k), _mm256_loadu_pd(b + k), acc);
    __m128d h = _mm_add_pd(_mm256_castpd256_pd128(acc), _mm256_extractf128_pd(acc, 1));
    double s = _mm_cvtsd_f64(_mm_add_sd(h, _mm_unpackhi_pd(h, h)));
    for (; k < K; k++)
        s += a[k] * b[k];
    return s;
}
#else
static double dot(const double *a, const double *b)
{
    double s = 0;
    for (int k = 0; k < K; k++)
        s += a[k] * b[k];
    return s;
}
#endif
void kernel(const double *restrict A, const double *restrict B, double *restrict C)
{
#pragma omp parallel for collapse(2)
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++)
            C[m * N + n] = dot(A + m * K, B + n * K);
}
