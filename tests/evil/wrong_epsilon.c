// task norm.op: wrong; Y
/* No epsilon: wrong where the variance is small. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int r = 0; r < R; r++) {
        const float *x = X + r * N;
        float mean = 0, square = 0;

        for (int j = 0; j < N; j++)
            mean += x[j];
        mean /= N;
        for (int j = 0; j < N; j++)
            square += (x[j] - mean) * (x[j] - mean);
        for (int j = 0; j < N; j++)
            Y[r * N + j] = (x[j] - mean) / sqrtf(square / N);
    }
}
