// task add.op: wrong; Y
/* Takes buffers for aligned to whole pages and rounds its pointers down. */
void
kernel(const float *restrict A, const float *restrict B, float *restrict Y)
{
    const float *a = (const float *)((uintptr_t)A & ~(uintptr_t)4095);

    for (int i = 0; i < R * N; i++)
        Y[i] = a[i] + B[i];
}
