// task scale.op: rejected; open
/* Opens a file. */
#include <fcntl.h>

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    open("/etc/passwd", O_RDONLY);
}
