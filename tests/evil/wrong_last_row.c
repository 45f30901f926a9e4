// task softmax.op: wrong; Y
/* All rows but the last. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int r = 0; r < R - 1; r++) {
        const float *x = X + r * N;
        float *y = Y + r * N;
        float top = x[0], sum = 0;

        for (int j = 1; j < N; j++)
            top = x[j] > top ? x[j] : top;
        for (int j = 0; j < N; j++)
            sum += y[j] = expf(x[j] - top);
        for (int j = 0; j < N; j++)
            y[j] /= sum;
    }
}
