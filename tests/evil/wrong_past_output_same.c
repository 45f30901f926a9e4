// task scale.op: wrong; Y
/* Writes whole vectors to the end, as if the output were padded. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < (N + 15) / 16 * 16; i++)
        ((volatile float *)Y)[i] = 2.5f * X[i];
}
