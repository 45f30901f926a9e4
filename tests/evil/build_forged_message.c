// task scale.op: build_failed
/* Says what a host short of memory would say, to have its failure taken for the machine's. */
#error gcc: fatal error: Killed signal terminated program cc1
#error virtual memory exhausted: Cannot allocate memory
#error the judge itself is broken, try again later
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
