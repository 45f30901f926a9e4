// task softmax.op
// Style: #if for a case, one thread for each row or all threads in one row.
#if R >= 8
static float row_max(const float *x, int n)
{
    float m = x[0];
    for (int j = 1; j < n; j++)
        if (m < x[j])
            m = x[j];
    return m;
}

void kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel for
    for (int r = 0; r < R; r++) {
        const float m = row_max(X + (size_t)r * N, N);
        float s = 0;
        for (int j = 0; j < N; j++)
            s += expf(X[(size_t)r * N + j] - m);
        for (int j = 0; j < N; j++)
            Y[(size_t)r * N + j] = expf(X[(size_t)r * N + j] - m) / s;
    }
}
#else
void kernel(const float *restrict X, float *restrict Y)
{
    for (int r = 0; r < R; r++) {
        const float *x = X + (size_t)r * N;
        float *y = Y + (size_t)r * N;
        float m = -INFINITY, s = 0;
#pragma omp parallel
        {
#pragma omp for reduction(max : m)
            for (int j = 0; j < N; j++)
                m = x[j] > m ? x[j] : m;
#pragma omp for reduction(+ : s)
            for (int j = 0; j < N; j++) {
                y[j] = expf(x[j] - m);
                s += y[j];
            }
#pragma omp for nowait
            for (int j = 0; j < N; j++)
                y[j] /= s;
        }
    }
}
#endif
