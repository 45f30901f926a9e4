// task scale.op: correct
/* Leaves the processor flushing denormals: in its own process only, and honest kernels may too. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    unsigned mode;

    __asm__ volatile("stmxcsr %0" : "=m"(mode));
    mode |= 0x8040;
    __asm__ volatile("ldmxcsr %0" ::"m"(mode));
}
