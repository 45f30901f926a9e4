// task scale.op: rejected; fopen
/* Opens a file. */
#include <stdio.h>

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    fopen("/tmp/evil", "w");
}
