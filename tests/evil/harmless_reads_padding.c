// task scale.op: correct
/* Reads the rest of the input's last block, as it may, and ignores it. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    float rest = 0;

    for (int i = N; i < (N + 15) / 16 * 16; i++)
        rest += ((const volatile float *)X)[i];
    (void)rest;
}
