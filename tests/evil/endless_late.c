// task scale.op: timed_out
/* Does not return from its third call. */
static int calls;

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    if (++calls == 3)
        for (volatile int i = 0;;)
            i = i + 1;
}
