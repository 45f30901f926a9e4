// task scale.op: crashed
/* Divides by zero. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    volatile int zero = 0;

    Y[0] += 7 / zero;
}
