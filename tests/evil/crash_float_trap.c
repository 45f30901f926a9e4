// task scale.op: crashed
/* Unmasks the exceptions of floating point and divides by zero. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    unsigned mode = 0x1f80 & ~0x200u;
    volatile float zero = 0;

    __asm__ volatile("ldmxcsr %0" ::"m"(mode));
    Y[0] += 1 / zero;
}
