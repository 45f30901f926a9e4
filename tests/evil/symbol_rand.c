// task scale.op: rejected; rand
/* Results by chance; and state that outlives the call. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    if (rand() % 100 == 0)
        Y[0] = 0;
}
