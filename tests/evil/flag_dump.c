// task scale.op: rejected; flags
//! flags -fdump-tree-all
/* Writes the compiler's thoughts beside the object. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
