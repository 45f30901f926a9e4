// task sum.op: correct
/* Sums backwards, in seven lanes and in another precision: an order like any other. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int r = 0; r < R; r++) {
        double lane[7] = {0}, sum = 0;

        for (int j = N - 1; j >= 0; j--)
            lane[j % 7] += X[r * N + j];
        for (int l = 0; l < 7; l++)
            sum += lane[l];
        Y[r] = (float)sum;
    }
}
