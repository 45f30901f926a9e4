// task scale.op: rejected; flags
//! flags -O3;touch${IFS}/tmp/evil
/* A command, for a host that passes flags through a shell. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
