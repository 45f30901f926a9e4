// task scale.op: build_failed
/* Compares its age with that of a file of the host. */
#pragma GCC dependency "/etc/passwd"

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
