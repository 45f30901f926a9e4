// task scale.op: crashed
/* An address that belongs to nothing. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    *(volatile int *)(uintptr_t)0x123456789000 = 1;
}
