// task scale.op: rejected; system
/* A weak reference: the loader accepts it also where nobody has it. */
#pragma weak system

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    if (system)
        system("true");
}
