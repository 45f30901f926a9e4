// task scale.op: crashed
/* Speaks with a device. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    __asm__ volatile("outb %%al, $0x80" ::"a"(0));
}
