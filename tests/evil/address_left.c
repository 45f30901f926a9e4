// task scale.op: wrong; Y
/* Right where the output ends with its page, wrong where it begins with it. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    if (((uintptr_t)Y & 4095) == 0)
        Y[0] = 0;
}
