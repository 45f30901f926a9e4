// task scale.op: crashed
/* A frame of 64 MB in every thread. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
#pragma omp parallel
    {
        volatile char room[64 << 20];

        room[0] = 1;
    }
}
