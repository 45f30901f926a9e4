// task scale.op: crashed
/* Returns to somewhere else. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    ((void *volatile *)__builtin_frame_address(0))[1] = (void *)16;
}
