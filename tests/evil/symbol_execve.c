// task scale.op: rejected; execve
/* Becomes another program. */
#include <unistd.h>

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    execve("/bin/true", NULL, NULL);
}
