// task scale.op: build_failed
/* An object of 200 MB: more than the compiler may write. */
static volatile char bomb[(size_t)200 << 20] = {1};

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    Y[0] += bomb[1];
}
