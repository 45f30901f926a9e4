// task two.op: wrong; Second
/* Uses the second output for its own purposes and cleans up only half of it. */
void
kernel(const float *restrict X, float *restrict first, float *restrict second)
{
    for (int i = 0; i < N; i++)
        second[i] = 1;
    for (int i = 0; i < N; i++)
        first[i] = X[i] + second[i];
    for (int i = 0; i < N / 2; i++)
        second[i] = X[i] * X[i];
}
