// task scale.op: correct
/* A GOMP_parallel of its own: one thread, whatever the host counts. */
void
GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags)
{
    (void)threads, (void)flags;
    function(data);
}

void
kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
