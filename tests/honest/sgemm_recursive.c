// task sgemm.op
// Style: cache-oblivious recursion with OpenMP tasks; the longest side is halved.
static void leaf(const float *a, const float *b, float *c, int m, int n, int k)
{
    for (int i = 0; i < m; i++)
        for (int p = 0; p < k; p++)
            for (int j = 0; j < n; j++)
                c[(size_t)i * N + j] += a[(size_t)i * K + p] * b[(size_t)p * N + j];
}

static void gemm(const float *a, const float *b, float *c, int m, int n, int k)
{
    if (m <= 16 && n <= 16 && k <= 16) {
        leaf(a, b, c, m, n, k);
    } else if (m >= n && m >= k) {
        const int h = m / 2;
#pragma omp task
        gemm(a, b, c, h, n, k);
        gemm(a + (size_t)h * K, b, c + (size_t)h * N, m - h, n, k);
#pragma omp taskwait
    } else if (n >= k) {
        const int h = n / 2;
#pragma omp task
        gemm(a, b, c, m, h, k);
        gemm(a, b + h, c + h, m, n - h, k);
#pragma omp taskwait
    } else {
        const int h = k / 2;
        gemm(a, b, c, m, n, h);
        gemm(a + h, b + (size_t)h * N, c, m, n, k - h);
    }
}

void kernel(const float *restrict A, const float *restrict B, float *restrict C)
{
    for (size_t e = 0; e < (size_t)M * N; e++)
        C[e] = 0;
#pragma omp parallel
#pragma omp single
    gemm(A, B, C, M, N, K);
}
