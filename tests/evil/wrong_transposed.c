// task sgemm.op: wrong; C
/* Reads the second matrix by columns. */
void
kernel(const float *restrict A, const float *restrict B, float *restrict C)
{
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float sum = 0;

            for (int k = 0; k < K; k++)
                sum += A[m * K + k] * B[(n * K + k) % (K * N)];
            C[m * N + n] = sum;
        }
}
