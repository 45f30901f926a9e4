// task batch_norm.op
// Style: a channel a thread, two passes, three outputs.
void kernel(const float *restrict X, const float *restrict G, const float *restrict B, float *restrict Y,
            float *restrict U, float *restrict V)
{
#pragma omp parallel for
    for (int c = 0; c < C; c++) {
        float s = 0, q = 0;
        for (int n = 0; n < N; n++)
            for (int e = 0; e < H * W; e++)
                s += X[((size_t)n * C + c) * H * W + e];
        U[c] = s / (N * H * W);
        for (int n = 0; n < N; n++)
            for (int e = 0; e < H * W; e++) {
                const float d = X[((size_t)n * C + c) * H * W + e] - U[c];
                q += d * d;
            }
        V[c] = q / (N * H * W);
        const float k = 1.0f / sqrtf(V[c] + 1e-5f) * G[c];
        for (int n = 0; n < N; n++)
            for (int e = 0; e < H * W; e++)
                Y[((size_t)n * C + c) * H * W + e] = (X[((size_t)n * C + c) * H * W + e] - U[c]) * k + B[c];
    }
}
