// task large.op: wrong; Y
/* One NaN among a million. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 0.5f * X[i] + 1;
    Y[54321] = NAN;
}
