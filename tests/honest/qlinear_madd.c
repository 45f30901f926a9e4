// task qlinear.op
// Style: pairs of i16 products by _mm256_madd_epi16, B packed in pairs of rows in static scratch.
#ifdef __AVX2__
#include <immintrin.h>
#endif
enum { NP = (N + 7) / 8 * 8, KP = (K + 1) / 2 };
static int16_t pairs[KP][NP][2] __attribute__((aligned(64)));
static int32_t sums[NP] __attribute__((aligned(64)));
#pragma omp threadprivate(sums)

void kernel(const int8_t *restrict A, const int8_t *restrict W, const float *restrict s, int32_t *restrict C,
            int8_t *restrict Y)
{
    for (int k = 0; k < KP; k++)
        for (int n = 0; n < NP; n++)
            for (int h = 0; h < 2; h++)
                pairs[k][n][h] = n < N && 2 * k + h < K ? W[(2 * k + h) * N + n] : 0;
#pragma omp parallel for schedule(static)
    for (int m = 0; m < M; m++) {
        memset(sums, 0, sizeof sums);
        for (int k = 0; k < KP; k++) {
            const int16_t a0 = A[m * K + 2 * k], a1 = 2 * k + 1 < K ? A[m * K + 2 * k + 1] : 0;
#ifdef __AVX2__
            const __m256i a = _mm256_set1_epi32((int)((uint32_t)(uint16_t)a1 << 16 | (uint16_t)a0));
            for (int n = 0; n < NP; n += 8) {
                const __m256i w = _mm256_load_si256((const __m256i *)pairs[k][n]);
                __m256i *d = (__m256i *)(sums + n);
                _mm256_store_si256(d, _mm256_add_epi32(_mm256_load_si256(d), _mm256_madd_epi16(a, w)));
            }
#else
            for (int n = 0; n < NP; n++)
                sums[n] += a0 * pairs[k][n][0] + a1 * pairs[k][n][1];
#endif
        }
        for (int n = 0; n < N; n++) {
            C[m * N + n] = sums[n];
            const long q = lrintf((float)sums[n] * s[n]);
            Y[m * N + n] = q > 127 ? 127 : q < -128 ? -128 : (int8_t)q;
        }
    }
}
