// task layer_norm.op
// Style: Welford's update, one element at a time.
void kernel(const float *x, const float *gamma, const float *beta, float *y)
{
#pragma omp parallel for schedule(dynamic)
    for (int r = 0; r < R; ++r) {
        float mean = 0.f, m2 = 0.f;
        for (int j = 0; j < N; ++j) {
            const float v = x[(size_t)r * N + j];
            const float delta = v - mean;
            mean += delta / (float)(j + 1);
            m2 += delta * (v - mean);
        }
        const float inv = 1.f / sqrtf(m2 / N + 1e-5f);
        for (int j = 0; j < N; ++j)
            y[(size_t)r * N + j] = (x[(size_t)r * N + j] - mean) * inv * gamma[j] + beta[j];
    }
}
