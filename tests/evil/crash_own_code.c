// task scale.op: crashed
/* Rewrites its own code. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    *(volatile char *)kernel = (char)0xc3;
}
