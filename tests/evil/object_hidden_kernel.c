// task scale.op: rejected; kernel
/* Defines it where the loader cannot see it. */
__attribute__((visibility("hidden"))) void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
