// task scale.op: rejected; flags
/* A declaration below the code, where a reader overlooks it. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}

//! flags -O3
