// task norm.op: wrong; Y
/* Mean of the squares minus square of the mean: nothing is left where the mean is large. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int r = 0; r < R; r++) {
        const float *x = X + r * N;
        float sum = 0, square = 0;

        for (int j = 0; j < N; j++) {
            sum += x[j];
            square += x[j] * x[j];
        }
        sum /= N;
        square = square / N - sum * sum;
        for (int j = 0; j < N; j++)
            Y[r * N + j] = (x[j] - sum) / sqrtf(square + 1e-5f);
    }
}
