// task scale.op: crashed
/* A nested function whose address is taken: gcc builds a bridge on the stack, which must not be
 * executable. */
static __attribute__((noinline)) void
each(void (*function)(int))
{
    for (int i = 0; i < N; i++)
        function(i);
}

void
kernel(const float *restrict X, float *restrict Y)
{
    void one(int i)
    {
        Y[i] = 2.5f * X[i];
    }

    each(one);
}
