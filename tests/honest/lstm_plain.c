// task lstm.op
// Style: step by step, state in static arrays set at the start of each call.
static float h[B][H], c[B][H], z[B][4 * H];
static inline float sig(float x) { return 1.0f / (1.0f + expf(-x)); }
void kernel(const float *restrict X, const float *restrict W, const float *restrict U, const float *restrict H0,
            const float *restrict C0, float *restrict Y, float *restrict CN)
{
    memcpy(h, H0, sizeof h);
    memcpy(c, C0, sizeof c);
    for (int t = 0; t < T; t++) {
#pragma omp parallel for collapse(2)
        for (int n = 0; n < B; n++)
            for (int g = 0; g < 4 * H; g++) {
                float s = 0, v = 0;
                for (int i = 0; i < I; i++)
                    s += X[((size_t)t * B + n) * I + i] * W[g * I + i];
                for (int j = 0; j < H; j++)
                    v += h[n][j] * U[g * H + j];
                z[n][g] = s + v;
            }
        for (int n = 0; n < B; n++)
            for (int j = 0; j < H; j++) {
                c[n][j] = sig(z[n][H + j]) * c[n][j] + sig(z[n][j]) * tanhf(z[n][2 * H + j]);
                h[n][j] = sig(z[n][3 * H + j]) * tanhf(c[n][j]);
                Y[((size_t)t * B + n) * H + j] = h[n][j];
            }
    }
    memcpy(CN, c, sizeof c);
}
