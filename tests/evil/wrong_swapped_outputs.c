// task two.op: wrong; First
/* Both outputs are right, each in the place of the other. */
void
kernel(const float *restrict X, float *restrict first, float *restrict second)
{
    for (int i = 0; i < N; i++) {
        second[i] = X[i] + 1;
        first[i] = X[i] * X[i];
    }
}
