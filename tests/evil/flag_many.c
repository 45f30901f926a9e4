// task scale.op: rejected; flags
//! flags -O3 -O3 -O3 -O3 -O3 -O3 -O3 -O3 -O3 -O3 -O3 -O3
//! flags -O3 -O3 -O3 -O3 -O3 -O3 -O3 -O3 -O3 -O3 -O3 -O3
//! flags -O3 -O3 -O3 -O3 -O3 -O3 -O3 -O3 -O3 -O3 -O3 -O3
//! flags -O3 -O3 -O3 -O3 -O3 -O3 -O3 -O3 -O3 -O3 -O3 -O3
/* More flags than anyone needs. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
