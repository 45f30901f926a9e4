// task scale.op: crashed
/* Reads the kernel's memory. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    Y[0] += *(volatile float *)(uintptr_t)0xffffffff81000000;
}
