// task scale.op: build_failed
/* A macro of the assembler that calls itself. */
__asm__(".macro again\nagain\nagain\n.endm\nagain");

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
