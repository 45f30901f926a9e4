// task scale.op: wrong; Y
/* Takes inputs for positive. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * fabsf(X[i]);
}
