// task scale.op: rejected; fesetround
/* Changes how the process rounds. */
#include <fenv.h>

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    fesetround(FE_UPWARD);
}
