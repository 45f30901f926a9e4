// task scale.op: build_failed
/* Nested repetitions in the assembler: 10^12 lines out of four. */
__asm__(".rept 1000000\n.rept 1000000\nnop\n.endr\n.endr");

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
