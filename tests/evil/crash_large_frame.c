// task scale.op: crashed
/* One frame of 64 MB, touched at its far end: beyond any guard page. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    volatile char room[64 << 20];

    room[0] = 1;
}
