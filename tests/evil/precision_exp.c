// task softmax.op: wrong; Y
/* An exponential with an error of one part in ten thousand. */
static float
approximate(float x)
{
    float n = rintf(x * 1.442695f), f = x - n * 0.6931472f;

    return n < -126 ? 0 : ldexpf(1 + f * (1 + f * (0.5f + f * 0.16f)), (int)n);
}

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int r = 0; r < R; r++) {
        const float *x = X + r * N;
        float *y = Y + r * N;
        float top = x[0], sum = 0;

        for (int j = 1; j < N; j++)
            top = x[j] > top ? x[j] : top;
        for (int j = 0; j < N; j++)
            sum += y[j] = approximate(x[j] - top);
        for (int j = 0; j < N; j++)
            y[j] /= sum;
    }
}
