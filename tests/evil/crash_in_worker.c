// task scale.op: crashed
/* Another thread crashes. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1)
        *(volatile int *)(uintptr_t)16 = 1;
}
