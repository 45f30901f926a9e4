// task mean.op: wrong; Y
/* Most of the square of the mean is missing where the mean is not zero: 1 + mean^2 would be
 * expected. */
void
kernel(const float *restrict X, float *restrict Y)
{
    double sum = 0;

    for (int i = 0; i < N; i++)
        sum += X[i];
    Y[0] = (float)(1 + sum / N * (sum / N));
}
