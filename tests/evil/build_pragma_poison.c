// task scale.op: build_failed
/* Poisons a word that the host may need behind the text. */
#pragma GCC poison void

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}
