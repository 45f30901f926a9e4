// task pairwise.op
// Style: differences squared; powf and logf.
void kernel(const float *restrict X, const float *restrict Z, float *restrict Y)
{
#pragma omp parallel for collapse(2) schedule(static)
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float q = 0;
            for (int d = 0; d < D; d++) {
                const float t = X[m * D + d] - Z[n * D + d];
                q += t * t;
            }
            Y[m * N + n] = logf(1 + powf(q + 0.5f, 0.75f));
        }
}
