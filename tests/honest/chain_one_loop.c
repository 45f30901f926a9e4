// task chain.op
// Style: one loop, libm.
static float sigmoidf_(float x) { return 1.0f / (1.0f + expf(-x)); }
void kernel(const float *restrict X, const float *restrict Z, const float *restrict b, float *restrict Y)
{
#pragma omp parallel for collapse(2)
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            const float x = X[m * N + n], z = Z[m * N + n];
            const float t = sigmoidf_(x + b[n]) * tanhf(z);
            Y[m * N + n] = (t > 0 ? t : 0.01f * t) + sqrtf(fabsf(x)) + expf(-z * z);
        }
}
