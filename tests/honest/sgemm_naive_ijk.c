// task sgemm.op
// Style: three loops, one accumulator, no pragma.
void kernel(const float *restrict A, const float *restrict B, float *restrict C)
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float acc = 0;
            for (int k = 0; k < K; k++)
                acc += A[i * K + k] * B[k * N + j];
            C[i * N + j] = acc;
        }
}
