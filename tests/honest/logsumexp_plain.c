// task logsumexp.op
// Style: two loops a row.
void kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel for
    for (int r = 0; r < R; r++) {
        const float *x = X + (size_t)r * N;
        float m = -INFINITY, s = 0;
        for (int j = 0; j < N; j++)
            m = x[j] > m ? x[j] : m;
        for (int j = 0; j < N; j++)
            s += expf(x[j] - m);
        Y[r] = logf(s) + m;
    }
}
