// task transpose.op
// Style: _MM_TRANSPOSE4_PS on 4x4 tiles, scalar borders.
#include <immintrin.h>
void kernel(const float *restrict X, float *restrict Y)
{
    const int m4 = M / 4 * 4, n4 = N / 4 * 4;
#pragma omp parallel for
    for (int m = 0; m < m4; m += 4)
        for (int n = 0; n < n4; n += 4) {
            __m128 a = _mm_loadu_ps(X + (size_t)m * N + n), b = _mm_loadu_ps(X + (size_t)(m + 1) * N + n);
            __m128 c = _mm_loadu_ps(X + (size_t)(m + 2) * N + n), d = _mm_loadu_ps(X + (size_t)(m + 3) * N + n);
            _MM_TRANSPOSE4_PS(a, b, c, d);
            _mm_storeu_ps(Y + (size_t)n * M + m, a);
            _mm_storeu_ps(Y + (size_t)(n + 1) * M + m, b);
            _mm_storeu_ps(Y + (size_t)(n + 2) * M + m, c);
            _mm_storeu_ps(Y + (size_t)(n + 3) * M + m, d);
        }
    for (int m = 0; m < M; m++)
        for (int n = m < m4 ? n4 : 0; n < N; n++)
            Y[(size_t)n * M + m] = X[(size_t)m * N + n];
}
