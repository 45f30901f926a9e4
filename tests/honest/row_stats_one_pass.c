// task row_stats.op
// Style: one pass for all four outputs; strict > keeps the first among equals.
void kernel(const float *restrict X, float *restrict S, float *restrict U, float *restrict M, int32_t *restrict A)
{
#pragma omp parallel for
    for (int r = 0; r < R; r++) {
        float s = 0, m = -INFINITY;
        int32_t at = 0;
        for (int j = 0; j < N; j++) {
            const float v = X[(size_t)r * N + j];
            s += v;
            if (v > m) {
                m = v;
                at = j;
            }
        }
        S[r] = s;
        U[r] = s / N;
        M[r] = m;
        A[r] = at;
    }
}
