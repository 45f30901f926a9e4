// task scale.op: rejected; kernel
/* Everything but what was asked for. */
void
colonel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
