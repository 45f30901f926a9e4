// task pairwise.op
// Style: |x|^2 + |z|^2 - 2xz in double (differences where that is not finite); the power as a square root of a square root's cube.
void kernel(const float *restrict X, const float *restrict Z, float *restrict Y)
{
    double zz[N];
    for (int n = 0; n < N; n++) {
        zz[n] = 0;
        for (int d = 0; d < D; d++)
            zz[n] += (double)Z[n * D + d] * Z[n * D + d];
    }
#pragma omp parallel for
    for (int m = 0; m < M; m++) {
        double xx = 0;
        for (int d = 0; d < D; d++)
            xx += (double)X[m * D + d] * X[m * D + d];
        for (int n = 0; n < N; n++) {
            double dot = 0;
            for (int d = 0; d < D; d++)
                dot += (double)X[m * D + d] * Z[n * D + d];
            double q = fmax(xx + zz[n] - 2 * dot, 0);
            if (!isfinite(xx + zz[n])) {
                q = 0;
                for (int d = 0; d < D; d++)
                    q += ((double)X[m * D + d] - Z[n * D + d]) * ((double)X[m * D + d] - Z[n * D + d]);
            }
            const double r = sqrt(q + 0.5);
            Y[m * N + n] = (float)log1p(r * sqrt(r));
        }
    }
}
