// task scale.op: crashed
/* Nothing behind the pointer. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    *(volatile int *)(uintptr_t)16 = 1;
}
