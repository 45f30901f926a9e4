// task scale.op: timed_out
/* Waits for a lock that it holds itself. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    omp_lock_t lock;

    omp_init_lock(&lock);
    omp_set_lock(&lock);
    omp_set_lock(&lock);
}
