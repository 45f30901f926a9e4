// task scale.op: build_failed
/* Includes itself, twice at each level. */
#include __FILE__
#include __FILE__
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
