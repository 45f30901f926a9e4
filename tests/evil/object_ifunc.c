// task scale.op: rejected
/* A function that the loader chooses by running code of ours. */
static void
right(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}

static void (*choose(void))(const float *restrict, float *restrict)
{
    return right;
}

void
kernel(const float *restrict X, float *restrict Y) __attribute__((ifunc("choose")));
