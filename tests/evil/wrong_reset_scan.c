// task cumsum.op: wrong; Y
/* Each half of a row is summed for itself, as two threads would that do not talk. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int r = 0; r < R; r++) {
        float sum = 0;

        for (int t = 0; t < N; t++) {
            sum = t == N / 2 ? X[r * N + t] : sum + X[r * N + t];
            Y[r * N + t] = sum;
        }
    }
}
