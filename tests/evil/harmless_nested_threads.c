// task scale.op: correct
/* Threads inside threads, more than there are processors. */
void
kernel(const float *restrict X, float *restrict Y)
{
    omp_set_max_active_levels(2);
#pragma omp parallel for num_threads(4)
    for (int b = 0; b < 4; b++)
#pragma omp parallel for num_threads(4)
        for (int i = b * N / 4; i < (b + 1) * N / 4; i++)
            Y[i] = 2.5f * X[i];
}
