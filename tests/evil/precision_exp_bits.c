// task softmax.op: wrong; Y
/* An exponential out of the bits of a float: 3 % wrong, and cancelling in part. */
static float
approximate(float x)
{
    int32_t bits = x < -80 ? 0 : (int32_t)(12102203.0f * x + 1064866805.0f);
    float y;

    memcpy(&y, &bits, sizeof y);
    return y;
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
