// task rms_norm.op
// Style: Kahan's compensated sum, and optimize attributes that keep the compiler from undoing it.
__attribute__((noinline, optimize("no-associative-math"))) static float
sum_of_squares(const float *x)
{
    float sum = 0, c = 0;
    for (int j = 0; j < N; j++) {
        const float y = x[j] * x[j] - c;
        const float t = sum + y;
        c = (t - sum) - y;
        sum = t;
    }
    return sum;
}

void kernel(const float *restrict X, const float *restrict G, float *restrict Y)
{
#pragma omp parallel for schedule(guided, 1)
    for (int r = 0; r < R; r++) {
        const float s = sum_of_squares(X + (size_t)r * N);
        const float k = 1.0f / sqrtf(s / N + 1e-6f);
        for (int j = 0; j < N; j++)
            Y[(size_t)r * N + j] = G[j] * (X[(size_t)r * N + j] * k);
    }
}
