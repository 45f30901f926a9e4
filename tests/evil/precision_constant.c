// task scale.op: wrong; Y
/* A constant with five digits. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.49999f * X[i];
}
