// task f64_matmul.op
// Style: nested parallel regions (inactive unless allowed), blocked, order nmk.
void kernel(const double *restrict A, const double *restrict B, double *restrict C)
{
    omp_set_max_active_levels(2);
#pragma omp parallel for num_threads(2)
    for (int nb = 0; nb < N; nb += 8) {
#pragma omp parallel for num_threads(2)
        for (int m = 0; m < M; m++)
            for (int n = nb; n < nb + 8 && n < N; n++) {
                double even = 0, odd = 0;
                for (int k = 0; k + 1 < K; k += 2) {
                    even += A[m * K + k] * B[n * K + k];
                    odd += A[m * K + k + 1] * B[n * K + k + 1];
                }
                if (K % 2)
                    even += A[m * K + K - 1] * B[n * K + K - 1];
                C[m * N + n] = even + odd;
            }
    }
}
