// task sum.op: wrong
/* Never resets what it adds to. */
static float sum[R];

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int r = 0; r < R; r++) {
        for (int j = 0; j < N; j++)
            sum[r] += X[r * N + j];
        Y[r] = sum[r];
    }
}
