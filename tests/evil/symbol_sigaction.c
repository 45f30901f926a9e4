// task scale.op: rejected; sigaction
/* Catches the trap of a forbidden system call. */
#include <signal.h>

static const struct sigaction action;

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    sigaction(SIGSYS, &action, NULL);
}
