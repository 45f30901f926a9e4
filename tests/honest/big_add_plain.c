// task big_add.op
// Style: one line in parallel.
void kernel(const float *restrict X, const float *restrict Z, float *restrict Y)
{
#pragma omp parallel for simd schedule(static)
    for (int i = 0; i < N; i++)
        Y[i] = X[i] + Z[i];
}
