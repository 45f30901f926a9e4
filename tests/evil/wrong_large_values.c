// task scale.op: wrong; Y
/* Wrong beyond four deviations. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * (X[i] > 4 ? 4 : X[i]);
}
