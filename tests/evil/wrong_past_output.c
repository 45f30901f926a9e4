// task scale.op: wrong; Y
/* Writes one element behind an output: nobody's bytes, but not its own. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    ((volatile float *)Y)[N] = 0;
}
