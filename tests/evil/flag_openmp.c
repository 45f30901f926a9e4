// task scale.op: rejected; flags
//! flags -fno-openmp
/* Takes the threads away. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
