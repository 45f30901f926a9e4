// task scale.op: rejected; tune
//! tune float = 1 2
/* A number to tune that has the name of a word of C. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
