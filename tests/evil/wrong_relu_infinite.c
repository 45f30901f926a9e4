// task relu.op: wrong; Y
/* Infinity becomes the largest number. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = X[i] > 3.4e38f ? 3.4e38f : X[i] > 0 ? X[i] : 0;
}
