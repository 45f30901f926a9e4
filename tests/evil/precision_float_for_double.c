// task dsum.op: wrong; Y
/* Sums doubles in single precision. */
void
kernel(const double *restrict X, double *restrict Y)
{
    for (int r = 0; r < R; r++) {
        float sum = 0;

        for (int j = 0; j < N; j++)
            sum += (float)X[r * N + j];
        Y[r] = sum;
    }
}
