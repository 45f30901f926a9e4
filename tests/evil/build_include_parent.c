// task scale.op: build_failed
/* Out of the folder by its parents. */
#include "../../../../../../../../etc/shadow"

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
