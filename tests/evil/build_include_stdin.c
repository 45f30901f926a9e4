// task scale.op: build_failed
/* Waits for an input that never comes, or reads what the host left there. */
#include "/dev/stdin"

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
