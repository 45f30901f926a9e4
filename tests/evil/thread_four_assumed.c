// task scale.op: wrong; Y
/* Takes the number of threads for four. */
void
kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel
    {
        int t = omp_get_thread_num();

        for (int i = t * (N / 4); t < 4 && i < (t + 1) * (N / 4); i++)
            Y[i] = 2.5f * X[i];
    }
}
