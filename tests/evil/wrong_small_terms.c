// task sgemm.op: wrong; C
/* Leaves out the terms that are small, as if the matrix were sparse. */
void
kernel(const float *restrict A, const float *restrict B, float *restrict C)
{
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float sum = 0;

            for (int k = 0; k < K; k++)
                if (fabsf(A[m * K + k]) > 0.01f)
                    sum += A[m * K + k] * B[k * N + n];
            C[m * N + n] = sum;
        }
}
