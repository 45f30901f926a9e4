// task scale.op: crashed
/* Lets go of its stack. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    __asm__ volatile("xor %%esp, %%esp; push %%rax" ::: "memory");
}
