// task sgemm.op: wrong; C
/* One term of 89 is left out. */
void
kernel(const float *restrict A, const float *restrict B, float *restrict C)
{
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float sum = 0;

            for (int k = 0; k < K - 1; k++)
                sum += A[m * K + k] * B[k * N + n];
            C[m * N + n] = sum;
        }
}
