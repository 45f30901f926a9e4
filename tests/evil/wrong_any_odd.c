// task any.op: wrong; Y
/* Right where the size is even. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i + 1 < N; i += 2) {
        Y[i] = 2.5f * X[i];
        Y[i + 1] = 2.5f * X[i + 1];
    }
}
