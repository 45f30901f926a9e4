// task scale.op: crashed
/* No address at all: the processor gives none in its report. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    *(volatile int *)(uintptr_t)0x8000000000000000 = 1;
}
