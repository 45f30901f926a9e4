// task scale.op: rejected; stdout
/* Takes a variable, not a function, of the C library. */
#include <stdio.h>

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    *(volatile int *)stdout = 0;
}
