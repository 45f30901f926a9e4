// task scale.op: rejected; constructor
/* Code that runs on loading, before anybody watches. */
static volatile int ready;

__attribute__((constructor)) static void
early(void)
{
    ready = 1;
}

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
