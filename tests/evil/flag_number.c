// task scale.op: rejected; flags
//! flags --param max-unroll-times=999999999
/* A number beyond its bounds: the compiler would never end. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
