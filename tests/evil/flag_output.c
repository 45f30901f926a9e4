// task scale.op: rejected; flags
//! flags -o /tmp/evil.so
/* Another place for the object. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
