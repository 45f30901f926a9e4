// task two.op: wrong; Second
/* Forgets the second of two outputs. */
void
kernel(const float *restrict X, float *restrict first, float *restrict second)
{
    (void)second;
    for (int i = 0; i < N; i++)
        first[i] = X[i] + 1;
}
