// task scale.op: rejected; system
/* Starts a shell. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    system("touch /tmp/evil");
}
