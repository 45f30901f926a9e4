// task scale.op: build_failed
/* A file of the judge's own tree, from where this one lies. */
#include "../../src/judge/judge.h"

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
