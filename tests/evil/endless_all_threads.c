// task scale.op: timed_out
/* No thread ever returns. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
#pragma omp parallel
    for (volatile int i = 0;;)
        i = i + 1;
}
