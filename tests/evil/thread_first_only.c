// task scale.op: wrong; Y
/* Only the first thread does its part. */
void
kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < N; i++)
        if (omp_get_thread_num() == 0)
            Y[i] = 2.5f * X[i];
    if (omp_get_max_threads() == 1)
        Y[0] = 0;
}
