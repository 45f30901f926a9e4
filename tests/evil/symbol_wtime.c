// task scale.op: rejected; omp_get_wtime
/* Reads the clock, by OpenMP's name for it. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    if (omp_get_wtime() < 0)
        Y[0] = 0;
}
