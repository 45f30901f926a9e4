// task scale.op: rejected; fork
/* Makes another process. */
#include <unistd.h>

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    if (fork() == 0)
        for (;;)
            ;
}
