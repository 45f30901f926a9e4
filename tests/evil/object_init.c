// task scale.op: rejected; constructor
/* The linker takes any function of this name for one to run on loading. */
static volatile int ready;

void
_init(void)
{
    ready = 1;
}

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
