// task row_stats.op
// Style: AVX2 argmax with an index vector and blends; ties across lanes go to the smaller index.
#ifdef __AVX2__
#include <immintrin.h>
#endif
void kernel(const float *restrict X, float *restrict S, float *restrict U, float *restrict M, int32_t *restrict A)
{
#pragma omp parallel for schedule(static)
    for (int r = 0; r < R; r++) {
        const float *x = X + (size_t)r * N;
        float s = 0, m = -INFINITY;
        int32_t at = N;
        int j = 0;
#ifdef __AVX2__
        __m256 vm = _mm256_set1_ps(-INFINITY), vs = _mm256_setzero_ps();
        __m256i idx = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), vi = idx;
        for (; j + 8 <= N; j += 8) {
            const __m256 v = _mm256_loadu_ps(x + j);
            const __m256 gt = _mm256_cmp_ps(v, vm, _CMP_GT_OQ);
            vm = _mm256_blendv_ps(vm, v, gt);
            vi = _mm256_blendv_epi8(vi, idx, _mm256_castps_si256(gt));
            idx = _mm256_add_epi32(idx, _mm256_set1_epi32(8));
            vs = _mm256_add_ps(vs, v);
        }
        if (N >= 8) {
            float fm[8], fs[8];
            int32_t fi[8];
            _mm256_storeu_ps(fm, vm);
            _mm256_storeu_ps(fs, vs);
            _mm256_storeu_si256((__m256i *)fi, vi);
            for (int l = 0; l < 8; l++) {
                s += fs[l];
                if (fm[l] > m || (fm[l] == m && fi[l] < at)) {
                    m = fm[l];
                    at = fi[l];
                }
            }
        }
#endif
        for (; j < N; j++) {
            s += x[j];
            if (x[j] > m || at == N) {
                m = x[j];
                at = j;
            }
        }
        S[r] = s;
        U[r] = s / (float)N;
        M[r] = m;
        A[r] = at;
    }
}
