// task sgemm.op: wrong; C
/* Seven bits of mantissa. */
void
kernel(const float *restrict A, const float *restrict B, float *restrict C)
{
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float sum = 0;

            for (int k = 0; k < K; k++)
                sum +=
                    f32_of_bf16(bf16_of_f32(A[m * K + k])) * f32_of_bf16(bf16_of_f32(B[k * N + n]));
            C[m * N + n] = sum;
        }
}
