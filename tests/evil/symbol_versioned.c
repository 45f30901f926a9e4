// task scale.op: rejected; system
/* An old version of the name. */
__asm__(".symver old, system@GLIBC_2.2.5");

int
old(const char *);

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    old("true");
}
