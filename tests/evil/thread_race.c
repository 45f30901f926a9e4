// task sum.op: wrong; Y
/* All threads add to the same number. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int r = 0; r < R; r++) {
        volatile float sum = 0;

#pragma omp parallel for
        for (int j = 0; j < N; j++)
            sum += X[r * N + j];
        Y[r] = sum;
    }
}
