// task scale.op: build_failed
/* The assembler copies a file without an end. */
__asm__(".section .rodata\n"
        "stolen: .incbin \"/dev/zero\"\n"
        ".text\n");

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
