// task hgemm.op
// Style: W widened once to float in static scratch with F16C, then float loops, then narrowed.
#ifdef __F16C__
#include <immintrin.h>
#endif
static float wide[(size_t)K * N + 8];
static void widen(const _Float16 *h, float *f, int n)
{
    int i = 0;
#ifdef __F16C__
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(f + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(h + i))));
#endif
    for (; i < n; i++)
        f[i] = (float)h[i];
}
void kernel(const _Float16 *restrict A, const _Float16 *restrict W, _Float16 *restrict Y)
{
    widen(W, wide, K * N);
#pragma omp parallel for
    for (int m = 0; m < M; m++) {
        float a[K], acc[N];
        widen(A + (size_t)m * K, a, K);
        memset(acc, 0, sizeof acc);
        for (int k = 0; k < K; k++)
            for (int n = 0; n < N; n++)
                acc[n] += a[k] * wide[k * N + n];
        for (int n = 0; n < N; n++)
            Y[(size_t)m * N + n] = (_Float16)acc[n];
    }
}
