// task scale.op: build_failed
/* Calls what it has not declared. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    system("touch /tmp/evil");
    execlp("true", "true");
}
