// task sgemm.op: wrong; C
/* Multiplies by the diagonal alone. */
void
kernel(const float *restrict A, const float *restrict B, float *restrict C)
{
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++)
            C[m * N + n] = n < K ? A[m * K + n] * B[n * N + n] : 0;
}
