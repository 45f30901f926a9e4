// task scale.op: rejected; flags
//! flags -Wl,-init,kernel
/* A word with the linker. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
