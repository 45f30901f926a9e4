// task scale.op: rejected
/* Asks for a section that is written and executed. */
__asm__(".section .evil, \"awx\", @progbits\n"
        "patch: ret\n"
        ".text");

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    __asm__ volatile("call patch" ::: "memory");
}
