// task scale.op: timed_out
/* Does not return where an input is beyond four deviations. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++) {
        Y[i] = 2.5f * X[i];
        if (X[i] > 4)
            for (volatile int j = 0;;)
                j = j + 1;
    }
}
