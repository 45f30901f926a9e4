// task scale.op: wrong; Y
/* Each thread stops before the last element of its part. */
void
kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel
    {
        int t = omp_get_thread_num(), n = omp_get_num_threads();

        for (int i = t * N / n; i < (t + 1) * N / n - 1; i++)
            Y[i] = 2.5f * X[i];
    }
}
