// task linear_scan.op
// Style: the recurrence with fmaf.
void kernel(const float *restrict A, const float *restrict X, float *restrict Y)
{
#pragma omp parallel for
    for (int r = 0; r < R; r++) {
        float y = 0;
        for (int t = 0; t < N; t++)
            Y[r * N + t] = y = fmaf(A[r * N + t], y, X[r * N + t]);
    }
}
