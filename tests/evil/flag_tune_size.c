// task scale.op: rejected; tune
//! tune N = 1 2 4
/* A number to tune that has the name of a size. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
