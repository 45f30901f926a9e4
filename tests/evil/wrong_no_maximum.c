// task softmax.op: wrong; Y
/* Does not subtract the maximum: large inputs overflow. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int r = 0; r < R; r++) {
        const float *x = X + r * N;
        float *y = Y + r * N;
        float sum = 0;

        for (int j = 0; j < N; j++)
            sum += y[j] = expf(x[j]);
        for (int j = 0; j < N; j++)
            y[j] /= sum;
    }
}
