// task sgemm.op: wrong; C
/* Eight bits and a scale for each row, as in quantised inference. */
void
kernel(const float *restrict A, const float *restrict B, float *restrict C)
{
    static float a[M * K], b[K * N];
    float top_a = 1e-30f, top_b = 1e-30f;

    for (int i = 0; i < M * K; i++)
        top_a = fmaxf(top_a, fabsf(A[i]));
    for (int i = 0; i < K * N; i++)
        top_b = fmaxf(top_b, fabsf(B[i]));
    for (int i = 0; i < M * K; i++)
        a[i] = rintf(127 * A[i] / top_a) * (top_a / 127);
    for (int i = 0; i < K * N; i++)
        b[i] = rintf(127 * B[i] / top_b) * (top_b / 127);
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float sum = 0;

            for (int k = 0; k < K; k++)
                sum += a[m * K + k] * b[k * N + n];
            C[m * N + n] = sum;
        }
}
