// task scale.op: build_failed
/* Takes its input as something that can be written. */
void
kernel(float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        X[i] = Y[i] = 0;
}
