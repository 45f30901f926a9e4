// task scale.op: correct
/* Leaves a function by a jump that the compiler makes without the C library. */
static void *place[5];

static __attribute__((noinline)) void
jump(void)
{
    __builtin_longjmp(place, 1);
}

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    if (__builtin_setjmp(place) == 0)
        jump();
}
