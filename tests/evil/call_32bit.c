// task scale.op: rejected; 32-bit
/* The 32-bit interface has other numbers: 20 is getpid there and writev here. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    long result;

    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
}
