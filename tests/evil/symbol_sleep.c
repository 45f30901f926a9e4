// task scale.op: rejected; usleep
/* Sleeps. */
#include <unistd.h>

int
usleep(unsigned);

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    usleep(1000);
}
