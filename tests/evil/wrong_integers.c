// task scale.op: wrong; Y
/* Wrong where an input is a whole number other than 0. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = X[i] == rintf(X[i]) ? X[i] : 2.5f * X[i];
}
