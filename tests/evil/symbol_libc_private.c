// task scale.op: rejected; __libc_
/* A name that only the C library itself should use. */
int
__libc_start_main();

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    __libc_start_main();
}
