// task layer_norm.op
// Style: sum and sum of squares in one pass, in double, where the cancellation does no harm.
void kernel(const float *restrict X, const float *restrict G, const float *restrict B, float *restrict Y)
{
    int r;
#pragma omp parallel for private(r) default(none) shared(X, G, B, Y)
    for (r = 0; r < R; r++) {
        double s = 0, q = 0;
        for (int j = 0; j < N; j++) {
            double v = X[r * N + j];
            s += v;
            q += v * v;
        }
        const double mean = s / N;
        double var = q / N - mean * mean;
        if (var < 0)
            var = 0;
        const double rstd = 1.0 / sqrt(var + 1e-5);
        for (int j = 0; j < N; j++)
            Y[r * N + j] = (float)((X[r * N + j] - mean) * rstd * G[j] + B[j]);
    }
}
