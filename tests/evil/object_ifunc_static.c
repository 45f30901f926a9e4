// task scale.op: rejected
/* The same, not exported: only a relocation tells of it. */
static float
twice_and_a_half(float x)
{
    return 2.5f * x;
}

static float (*choose(void))(float)
{
    return twice_and_a_half;
}

static float
f(float x) __attribute__((ifunc("choose")));

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = f(X[i]);
}
