// task large.op: wrong; Y
/* Leaves the last element unwritten. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N - 1; i++)
        Y[i] = 0.5f * X[i] + 1;
}
