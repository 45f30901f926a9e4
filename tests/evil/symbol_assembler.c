// task scale.op: rejected; system
/* The compiler knows nothing of it: the name is in the assembler alone. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    __asm__ volatile("mov system@GOTPCREL(%%rip), %%rax" ::: "rax");
}
