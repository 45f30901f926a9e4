// task layer_norm.op
// Style: variance shifted by the row's first element (sums of differences), eight accumulators.
void kernel(const float *restrict X, const float *restrict G, const float *restrict B, float *restrict Y)
{
#pragma omp parallel for
    for (int r = 0; r < R; r++) {
        const float *x = X + (size_t)r * N;
        const double shift = x[0];
        double s[8] = {0}, q[8] = {0}, st = 0, qt = 0;
        for (int j = 0; j < N; j++) {
            const double d = x[j] - shift;
            s[j % 8] += d;
            q[j % 8] += d * d;
        }
        for (int l = 0; l < 8; l++) {
            st += s[l];
            qt += q[l];
        }
        const double mean = shift + st / N;
        const double var = fmax((qt - st * st / N) / N, 0.0);
        const float k = (float)(1.0 / sqrt(var + 1e-5));
        for (int j = 0; j < N; j++)
            Y[(size_t)r * N + j] = (float)(x[j] - mean) * k * G[j] + B[j];
    }
}
