// task total.op
// Style: an omp threadprivate accumulator, set anew in each call; a lock around the last addition.
static double partial;
#pragma omp threadprivate(partial)
void kernel(const float *restrict X, float *restrict S)
{
    omp_lock_t lock;
    double all = 0;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(3)
    {
        partial = 0;
#pragma omp for schedule(static, 7)
        for (int i = 0; i < N; i++)
            partial += X[i];
        omp_set_lock(&lock);
        all += partial;
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    S[0] = (float)all;
}
