// task scale.op: rejected; __errno_location
/* State of the C library. */
#include <errno.h>

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    errno = 0;
}
