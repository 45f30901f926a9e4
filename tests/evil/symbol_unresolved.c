// task scale.op: rejected; _ZGVbN4v_nothing
/* A name that passes for a vector function and exists nowhere: the loader must refuse it. */
float
_ZGVbN4v_nothing(float);

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    Y[0] = _ZGVbN4v_nothing(Y[0]);
}
