// task scale.op: rejected; flags
//! flags -march=x86-64-v4
/* Instructions that this machine may not have. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
