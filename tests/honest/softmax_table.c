// task softmax.op
// Style: exp by a table of 64 powers of two that every call fills itself, and a short polynomial.
static float pow2_table[64];

static inline float exp_table(float x)
{
    if (!(x > -87.4f)) /* below the smallest normal */
        return 0.0f;
    float t = x * 92.33248261f; /* 64 / ln 2 */
    int n = (int)(t - 0.5f);    /* x <= 0: to nearest */
    float r = fmaf((float)n, -0.010830402374267578f, x); /* ln 2 / 64, upper bits */
    r = fmaf((float)n, -2.2321984e-8f, r);
    float p = 1.0f + r * (1.0f + r * (0.5f + r * (1.0f / 6)));
    return ldexpf(pow2_table[n & 63] * p, n >> 6);
}

void kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < 64; i++)
        pow2_table[i] = (float)exp2(i / 64.0);
#pragma omp parallel for
    for (int r = 0; r < R; r++) {
        const float *x = X + (size_t)r * N;
        float *y = Y + (size_t)r * N;
        float m = x[0], s[4] = {0, 0, 0, 0};
        for (int j = 1; j < N; j++)
            m = fmaxf(m, x[j]);
        for (int j = 0; j < N; j++) {
            y[j] = exp_table(x[j] - m);
            s[j & 3] += y[j];
        }
        const float inv = 1.0f / ((s[0] + s[1]) + (s[2] + s[3]));
        for (int j = 0; j < N; j++)
            y[j] *= inv;
    }
}
