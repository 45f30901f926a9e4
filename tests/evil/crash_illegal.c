// task scale.op: crashed
/* An instruction that does not exist. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    __builtin_trap();
}
