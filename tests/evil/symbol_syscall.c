// task scale.op: rejected; syscall
/* Every system call under one name. */
#include <unistd.h>

long
syscall(long number, ...);

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    syscall(39);
}
