// task scale.op: wrong; Y
/* Wrong where it has several threads. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    if (omp_get_max_threads() > 1)
        Y[N - 1] = 0;
}
