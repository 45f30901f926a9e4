// task scale.op: timed_out
/* Never returns. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    for (volatile int i = 0;;)
        i = i + 1;
}
