// task scale.op: rejected; __cxa_atexit
/* Code that runs when the process ends. */
int
__cxa_atexit(void (*function)(void *), void *data, void *object);

static void
late(void *data)
{
    (void)data;
}

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    __cxa_atexit(late, NULL, NULL);
}
