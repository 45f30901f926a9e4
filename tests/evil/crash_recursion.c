// task scale.op: crashed
/* Calls itself until the stack is full. */
static __attribute__((noinline)) int
deep(volatile char *above)
{
    volatile char room[4096];

    room[0] = above[0];
    return deep(room) + room[0];
}

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    volatile char first = 1;

    Y[0] += deep(&first);
}
