// task scale.op: crashed
/* Crashes in the third call of a process. */
static int calls;

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    if (++calls == 3)
        *(volatile int *)(uintptr_t)16 = 1;
}
