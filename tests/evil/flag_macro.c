// task scale.op: rejected; flags
//! flags -DN=1
/* Other sizes than those of the task. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
