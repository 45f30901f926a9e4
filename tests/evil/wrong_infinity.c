// task scale.op: wrong; Y
/* Infinity: its error divided by itself is not a number. */
void
kernel(const float *restrict X, float *restrict Y)
{
    (void)X;
    for (int i = 0; i < N; i++)
        Y[i] = INFINITY;
}
