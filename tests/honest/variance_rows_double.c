// task variance.op
// Style: row by row into double columns, two sweeps.
void kernel(const float *restrict X, float *restrict V, float *restrict D)
{
    double mean[C], q[C];
    memset(mean, 0, sizeof mean);
    memset(q, 0, sizeof q);
    for (int n = 0; n < N; n++)
        for (int c = 0; c < C; c++)
            mean[c] += X[n * C + c];
    for (int c = 0; c < C; c++)
        mean[c] /= N;
    for (int n = 0; n < N; n++)
        for (int c = 0; c < C; c++)
            q[c] += (X[n * C + c] - mean[c]) * (X[n * C + c] - mean[c]);
    for (int c = 0; c < C; c++) {
        V[c] = (float)(q[c] / (N - 1));
        D[c] = (float)sqrt(q[c] / (N - 1));
    }
}
