// task scale.op: crashed
/* Gives back what it never had: the heap finds out and aborts. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    free((void *)((uintptr_t)Y + 8));
}
