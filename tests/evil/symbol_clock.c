// task scale.op: rejected; clock_gettime
/* Reads the clock. */
#include <time.h>

int
clock_gettime(clockid_t, struct timespec *);

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
}
