// task scale.op: wrong; Y
/* Writes the last element of the 64-byte block in which an output ends. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    ((volatile float *)Y)[(N + 15) / 16 * 16 - 1] = 0;
}
