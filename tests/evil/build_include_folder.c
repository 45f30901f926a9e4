// task scale.op: build_failed
/* A folder is no file: must be refused, not waited for. */
#include "/usr"

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
