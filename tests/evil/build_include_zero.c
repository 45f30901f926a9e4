// task scale.op: build_failed
/* A file without an end. */
#include "/dev/zero"

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
