// task mlp.op
// Style: two matrix products with a static buffer between; tanhf.
static float hidden[M][F];
static float gelu(float x) { return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x))); }
void kernel(const float *restrict X, const float *restrict W1, const float *restrict b1, const float *restrict W2,
            const float *restrict b2, float *restrict Y)
{
#pragma omp parallel
    {
#pragma omp for collapse(2)
        for (int m = 0; m < M; m++)
            for (int f = 0; f < F; f++) {
                float s = 0;
                for (int d = 0; d < D; d++)
                    s += X[m * D + d] * W1[f * D + d];
                hidden[m][f] = gelu(s + b1[f]);
            }
#pragma omp for collapse(2)
        for (int m = 0; m < M; m++)
            for (int d = 0; d < D; d++) {
                float s = 0;
                for (int f = 0; f < F; f++)
                    s += hidden[m][f] * W2[d * F + f];
                Y[m * D + d] = s + b2[d] + X[m * D + d];
            }
    }
}
