// task relu.op: wrong; Y
/* 0 * x for what is negative: NaN where that is infinite. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = X[i] * (X[i] > 0);
}
