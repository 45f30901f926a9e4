// task sgemm.op
// Style: GotoBLAS in small: B packed into panels of 16 columns in static scratch, a 6x16
// micro-kernel of FMA intrinsics, zero-filled edges, a plain micro-kernel as a fallback.
#ifdef __AVX2__
#include <immintrin.h>
#endif
enum { MR = 6, NR = 16, PANELS = (N + NR - 1) / NR };

static float packed[(size_t)PANELS * K * NR] __attribute__((aligned(64)));

static void pack(const float *b)
{
#pragma omp for
    for (int p = 0; p < PANELS; p++)
        for (int k = 0; k < K; k++)
            for (int j = 0; j < NR; j++)
                packed[((size_t)p * K + k) * NR + j] = p * NR + j < N ? b[(size_t)k * N + p * NR + j] : 0.0f;
}

static void micro(const float *a, const float *bp, float *tile)
{
#ifdef __AVX2__
    __m256 c[MR][2];
    for (int i = 0; i < MR; i++)
        c[i][0] = c[i][1] = _mm256_setzero_ps();
    for (int k = 0; k < K; k++) {
        const __m256 b0 = _mm256_load_ps(bp + k * NR), b1 = _mm256_load_ps(bp + k * NR + 8);
#pragma GCC unroll 6
        for (int i = 0; i < MR; i++) {
            const __m256 x = _mm256_broadcast_ss(a + i * K + k);
            c[i][0] = _mm256_fmadd_ps(x, b0, c[i][0]);
            c[i][1] = _mm256_fmadd_ps(x, b1, c[i][1]);
        }
    }
    for (int i = 0; i < MR; i++) {
        _mm256_store_ps(tile + i * NR, c[i][0]);
        _mm256_store_ps(tile + i * NR + 8, c[i][1]);
    }
#else
    memset(tile, 0, MR * NR * sizeof *tile);
    for (int k = 0; k < K; k++)
        for (int i = 0; i < MR; i++)
            for (int j = 0; j < NR; j++)
                tile[i * NR + j] += a[i * K + k] * bp[k * NR + j];
#endif
}

void kernel(const float *restrict A, const float *restrict B, float *restrict C)
{
#pragma omp parallel
    {
        pack(B);
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < M; i += MR) {
            float tile[MR * NR] __attribute__((aligned(32)));
            float edge[MR * K];
            const float *a = A + (size_t)i * K;
            const int rows = M - i < MR ? M - i : MR;
            if (rows < MR) {
                memset(edge, 0, sizeof edge);
                memcpy(edge, a, (size_t)rows * K * sizeof *edge);
                a = edge;
            }
            for (int p = 0; p < PANELS; p++) {
                const int cols = N - p * NR < NR ? N - p * NR : NR;
                micro(a, packed + (size_t)p * K * NR, tile);
                for (int r = 0; r < rows; r++)
                    memcpy(C + (size_t)(i + r) * N + p * NR, tile + r * NR, cols * sizeof *tile);
            }
        }
    }
}
