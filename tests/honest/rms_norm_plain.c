// task rms_norm.op
// Style: plain, size_t everywhere, one accumulator.
void kernel(const float *restrict X, const float *restrict G, float *restrict Y)
{
    for (size_t r = 0; r < R; r++) {
        float ss = 0.0f;
        for (size_t j = 0; j < N; j++)
            ss += X[r * N + j] * X[r * N + j];
        const float scale = 1.0f / sqrtf(ss / (float)N + 1e-6f);
        for (size_t j = 0; j < N; j++)
            Y[r * N + j] = X[r * N + j] * scale * G[j];
    }
}
