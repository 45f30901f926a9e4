// task scale.op: crashed
/* Gives up, by a function that it may call. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    abort();
}
