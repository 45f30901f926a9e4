// task mean.op: correct
/* One accumulator for 65536 terms: poor, but honest. */
void
kernel(const float *restrict X, float *restrict Y)
{
    float sum = 0;

    for (int i = 0; i < N; i++)
        sum += X[i] * X[i];
    Y[0] = sum / N;
}
