// task scale.op: build_failed
/* The assembler puts a file of the host into the object, for the kernel to read. */
__asm__(".section .rodata\n"
        "stolen: .incbin \"/etc/passwd\"\n"
        ".text\n");

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
