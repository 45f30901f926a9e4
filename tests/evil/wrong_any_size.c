// task any.op: wrong; Y
/* Right at the size it was shown and at no other. */
#if N == 300
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
#else
void
kernel(const float *restrict X, float *restrict Y)
{
    (void)X, (void)Y;
}
#endif
