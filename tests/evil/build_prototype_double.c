// task scale.op: build_failed
/* Wants double where the task has float. */
void
kernel(const double *restrict X, double *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5 * X[i];
}
