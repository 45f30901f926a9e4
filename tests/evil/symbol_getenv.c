// task scale.op: rejected; getenv
/* Reads the host's environment. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    if (getenv("HONE_ORACLE"))
        Y[0] = 0;
}
