// task scale.op: rejected; signal
/* Catches its own crash. */
#include <signal.h>

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    signal(SIGSEGV, SIG_IGN);
}
