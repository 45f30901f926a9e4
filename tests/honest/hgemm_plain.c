// task hgemm.op
// Style: _Float16 in memory, float in the sum.
void kernel(const _Float16 *restrict A, const _Float16 *restrict W, _Float16 *restrict Y)
{
#pragma omp parallel for
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float acc = 0;
            for (int k = 0; k < K; k++)
                acc += (float)A[m * K + k] * (float)W[k * N + n];
            Y[m * N + n] = (_Float16)acc;
        }
}
