// task scale.op: rejected; exit
/* Ends the process, as if all were well. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    exit(0);
}
