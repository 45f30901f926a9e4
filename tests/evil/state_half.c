// task scale.op: wrong
/* Right once, then every other element. */
static int calls;

void
kernel(const float *restrict X, float *restrict Y)
{
    int step = calls++ ? 2 : 1;

    for (int i = 0; i < N; i += step)
        Y[i] = 2.5f * X[i];
}
