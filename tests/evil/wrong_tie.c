// task argmax.op: wrong; Y
/* Of equal elements the last one. */
void
kernel(const float *restrict X, int32_t *restrict Y)
{
    for (int r = 0; r < R; r++) {
        int best = 0;

        for (int j = 1; j < N; j++)
            if (X[r * N + j] >= X[r * N + best])
                best = j;
        Y[r] = best;
    }
}
