// task scale.op: correct
/* Takes denormal inputs for zero, which every honest kernel may. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = fabsf(X[i]) < 1.17549435e-38f ? 0 : 2.5f * X[i];
}
