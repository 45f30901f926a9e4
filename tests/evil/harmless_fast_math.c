// task relu.op: correct
//! flags -Ofast -mrecip
/* All that -Ofast permits. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = X[i] > 0 ? X[i] : 0;
}
