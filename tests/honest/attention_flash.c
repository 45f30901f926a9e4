// task attention.op
// Style: flash attention: blocks of keys, running maximum, sum and output rescaled once a block.
#define BK 16
static inline int imin(int a, int b) { return a < b ? a : b; }
void kernel(const float *restrict Q, const float *restrict K, const float *restrict V, float *restrict O)
{
    const float sc = (float)(1.0 / sqrt((double)D));
#pragma omp parallel for collapse(2)
    for (int h = 0; h < H; h++)
        for (int i = 0; i < S; i++) {
            const size_t base = (size_t)h * S * D;
            float acc[D], m = -INFINITY, l = 0;
            memset(acc, 0, sizeof acc);
            for (int j0 = 0; j0 <= i; j0 += BK) {
                const int j1 = imin(j0 + BK, i + 1);
                float s[BK], top = m;
                for (int j = j0; j < j1; j++) {
                    float dot = 0;
#pragma omp simd reduction(+ : dot)
                    for (int d = 0; d < D; d++)
                        dot += Q[base + (size_t)i * D + d] * K[base + (size_t)j * D + d];
                    s[j - j0] = dot * sc;
                    top = fmaxf(top, s[j - j0]);
                }
                const float back = expf(m - top);
                l *= back;
                for (int d = 0; d < D; d++)
                    acc[d] *= back;
                for (int j = j0; j < j1; j++) {
                    const float e = expf(s[j - j0] - top);
                    l += e;
                    for (int d = 0; d < D; d++)
                        acc[d] += e * V[base + (size_t)j * D + d];
                }
                m = top;
            }
            for (int d = 0; d < D; d++)
                O[base + (size_t)i * D + d] = acc[d] / l;
        }
}
