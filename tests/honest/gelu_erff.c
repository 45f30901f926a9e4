// task gelu.op
// Style: one line, libm's erff.
void kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        Y[i] = 0.5f * X[i] * (1.0f + erff(X[i] * 0.70710678f));
}
