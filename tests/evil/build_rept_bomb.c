// task scale.op: build_failed
/* The assembler repeats a line two thousand million times. */
__asm__(".rept 2000000000\n.byte 1\n.endr");

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
