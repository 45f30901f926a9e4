// task scale.op: correct
/* Leaves the registers of the old floating point unit full. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    __asm__ volatile("pxor %%mm0, %%mm0; fldz; fldz; fldz" ::: "memory");
}
