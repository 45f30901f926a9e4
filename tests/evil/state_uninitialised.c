// task sum.op: wrong
/* Adds to what malloc gave, which is zero once. */
void
kernel(const float *restrict X, float *restrict Y)
{
    volatile float *sum = malloc(R * sizeof *sum);

    for (int r = 0; r < R; r++) {
        for (int j = 0; j < N; j++)
            sum[r] += X[r * N + j];
        Y[r] = sum[r];
    }
    free((void *)sum);
}
