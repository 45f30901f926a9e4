// task scale.op: crashed
/* Returns from a signal that never came, with whatever lies on the stack. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    __asm__ volatile("mov $15, %%eax; syscall" ::: "rax", "rcx", "r11", "memory");
}
