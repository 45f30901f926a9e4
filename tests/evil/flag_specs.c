// task scale.op: rejected; flags
//! flags -specs=/tmp/evil.specs
/* Another set of commands for the compiler. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
