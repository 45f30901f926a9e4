// task scale.op: wrong; Y
/* Right, but for the last bits: a bf16 stored as a float. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = f32_of_bf16(bf16_of_f32(2.5f * X[i]));
}
