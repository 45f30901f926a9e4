// task softmax.op
// Style: online softmax, running maximum and rescaled sum in one pass, then a second pass.
#pragma omp declare simd
static inline float shifted(float x, float m) { return expf(x - m); }

void kernel(const float *x, float *y)
{
#pragma omp parallel for schedule(dynamic)
    for (int r = 0; r < R; ++r) {
        const float *in = x + (size_t)r * N;
        float *out = y + (size_t)r * N;
        float m = in[0], d = 1.0f;
        for (int j = 1; j < N; ++j) {
            if (in[j] > m) {
                d = d * expf(m - in[j]) + 1.0f;
                m = in[j];
            } else {
                d += expf(in[j] - m);
            }
        }
        const float inv = 1.0f / d;
        for (int j = 0; j < N; ++j)
            out[j] = shifted(in[j], m) * inv;
    }
}
