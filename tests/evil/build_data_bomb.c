// task scale.op: build_failed
/* Four gigabytes of initialised data in one line. */
static volatile char bomb[(size_t)4 << 30] = {1};

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    Y[0] += bomb[1];
}
