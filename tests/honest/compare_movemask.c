// task compare.op
// Style: movemask and popcount for the count, _Bool inside, atomic add of an int.
#include <stdbool.h>
#ifdef __AVX__
#include <immintrin.h>
#endif
void kernel(const float *x, const float *z, unsigned char *less, unsigned char *flag, int *k)
{
    *k = 0;
#pragma omp parallel
    {
        int mine = 0;
#pragma omp for schedule(static) nowait
        for (int b = 0; b < N; b += 8) {
            if (b + 8 <= N) {
#ifdef __AVX__
                const int mask = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(x + b), _mm256_loadu_ps(z + b), _CMP_LT_OQ));
#else
                int mask = 0;
                for (int l = 0; l < 8; l++)
                    mask |= (x[b + l] < z[b + l]) << l;
#endif
                mine += __builtin_popcount((unsigned)mask);
                for (int l = 0; l < 8; l++)
                    less[b + l] = mask >> l & 1;
            } else {
                for (int i = b; i < N; i++)
                    mine += less[i] = x[i] < z[i];
            }
            for (int i = b; i < b + 8 && i < N; i++) {
                const bool positive = (x[i] > 0) & (z[i] > 0);
                flag[i] = positive | (x[i] == z[i]);
            }
        }
#pragma omp atomic update
        *k += mine;
    }
}
