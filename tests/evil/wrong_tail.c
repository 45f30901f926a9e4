// task softmax.op: wrong; Y
/* Steps by 8 and drops the rest. */
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
            sum += y[j] = expf(x[j] - top);
        for (int j = 0; j < N / 8 * 8; j++)
            y[j] /= sum;
    }
}
