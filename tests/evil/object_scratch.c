// task scale.op: rejected
/* Three gigabytes of static scratch. */
static volatile char scratch[(size_t)3 << 30];

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    scratch[0] = 1;
}
