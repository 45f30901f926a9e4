// task scale.op: crashed
/* Switches alignment checks on and reads across a boundary. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    __asm__ volatile("pushf; orl $0x40000, (%%rsp); popf" ::: "memory", "cc");
    Y[0] += 0 * *(volatile int *)((char *)Y + 1);
}
