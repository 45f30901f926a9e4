// task scale.op: correct
/* Leaves the old floating point unit at single precision. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    uint16_t word = 0x007f;

    __asm__ volatile("fldcw %0" ::"m"(word));
}
