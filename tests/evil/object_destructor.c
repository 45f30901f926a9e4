// task scale.op: rejected; destructor
/* Code that runs on unloading, after the verdict. */
static volatile int gone;

__attribute__((destructor)) static void
late(void)
{
    gone = 1;
}

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
