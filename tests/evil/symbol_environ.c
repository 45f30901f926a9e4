// task scale.op: rejected; environ
/* Reads the host's environment. */
extern char **environ;

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    if (environ && environ[0])
        Y[0] += 0 * environ[0][0];
}
