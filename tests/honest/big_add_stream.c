// task big_add.op
// Style: non-temporal stores with a fence in every thread, aligned loads, scalar tail.
#ifdef __AVX__
#include <immintrin.h>
#endif
void kernel(const float *restrict X, const float *restrict Z, float *restrict Y)
{
#ifdef __AVX__
#pragma omp parallel
    {
#pragma omp for schedule(static) nowait
        for (int i = 0; i < N / 16; i++) {
            _mm256_stream_ps(Y + 16 * i, _mm256_add_ps(_mm256_load_ps(X + 16 * i), _mm256_load_ps(Z + 16 * i)));
            _mm256_stream_ps(Y + 16 * i + 8, _mm256_add_ps(_mm256_load_ps(X + 16 * i + 8), _mm256_load_ps(Z + 16 * i + 8)));
        }
        _mm_sfence();
    }
    for (int i = N / 16 * 16; i < N; i++)
        Y[i] = X[i] + Z[i];
#else
    for (int i = 0; i < N; i++)
        Y[i] = X[i] + Z[i];
#endif
}
