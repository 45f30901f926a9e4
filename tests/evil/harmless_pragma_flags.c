// task scale.op: correct
/* Changes its flags behind the back of the list; results are judged, not flags. */
#pragma GCC optimize("Ofast,unroll-loops")

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
