// task bf16_axpy.op
// Style: the prelude's helpers.
void kernel(const float *restrict a, const bf16 *restrict X, const bf16 *restrict Y, bf16 *restrict Z)
{
#pragma omp parallel for simd
    for (int i = 0; i < N; i++)
        Z[i] = bf16_of_f32(*a * f32_of_bf16(X[i]) + f32_of_bf16(Y[i]));
}
