// task scale.op: correct
/* Asks OpenMP for a thousand threads. */
void
kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel for num_threads(1000)
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
