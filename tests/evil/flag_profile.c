// task scale.op: rejected; flags
//! flags -fprofile-generate
/* Counters that are written to files. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
