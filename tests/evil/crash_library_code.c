// task scale.op: crashed
/* Rewrites the code of the C library. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    *(volatile char *)memcpy = (char)0xc3;
}
