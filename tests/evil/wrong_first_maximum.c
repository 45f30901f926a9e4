// task softmax.op: wrong; Y
/* Subtracts the first element for the maximum: right as long as inputs are tame. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int r = 0; r < R; r++) {
        const float *x = X + r * N;
        float *y = Y + r * N;
        float top = x[0], sum = 0;

        for (int j = 0; j < N; j++)
            sum += y[j] = expf(x[j] - top);
        for (int j = 0; j < N; j++)
            y[j] /= sum;
    }
}
