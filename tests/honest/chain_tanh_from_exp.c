// task chain.op
//! flags -O3 -fno-trapping-math -fvect-cost-model=unlimited
// Style: tanh and sigmoid from double exp, branch-free leaky slope, macros for everything.
#define SIG(v) (1.0 / (1.0 + exp(-(v))))
#define TANH(v) (2.0 * SIG(2.0 * (v)) - 1.0)
#define LEAKY(v) ((v) * (0.505 + copysign(0.495, (v))))
void kernel(const float *restrict X, const float *restrict Z, const float *restrict b, float *restrict Y)
{
#pragma omp parallel for schedule(runtime)
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            const double x = X[m * N + n], z = Z[m * N + n], t = SIG(x + b[n]) * TANH(z);
            Y[m * N + n] = (float)(LEAKY(t) + sqrt(fabs(x)) + exp(-z * z));
        }
}
