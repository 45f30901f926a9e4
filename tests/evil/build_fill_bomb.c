// task scale.op: build_failed
/* The assembler fills 16 GB. */
__asm__(".data\n.fill 0x7fffffff, 8, 1\n.text");

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
