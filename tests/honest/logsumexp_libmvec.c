// task logsumexp.op
//! flags -O3 -ffast-math -fno-finite-math-only -mprefer-vector-width=256
// Style: vector expf through fast-math, with the rest of its licence taken back.
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
static inline __attribute__((always_inline)) float top(const float *x)
{
    float m = x[0];
    for (int j = 1; j < N; j++)
        m = m > x[j] ? m : x[j];
    return m;
}
void kernel(const float *restrict X, float *restrict Y)
{
    for (int r = 0; r < R; r++) {
        const float m = top(X + (size_t)r * N);
        float s = 0;
        for (int j = 0; j < N; j++)
            s += expf(X[(size_t)r * N + j] - m);
        Y[r] = m + logf(s);
    }
}
