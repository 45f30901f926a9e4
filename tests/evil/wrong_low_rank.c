// task sgemm.op: wrong; C
/* Takes the matrix for symmetric in its first rows and computes only half of them. */
void
kernel(const float *restrict A, const float *restrict B, float *restrict C)
{
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float sum = 0;

            if (n < m) {
                C[m * N + n] = C[n * N + m];
                continue;
            }
            for (int k = 0; k < K; k++)
                sum += A[m * K + k] * B[k * N + n];
            C[m * N + n] = sum;
        }
}
