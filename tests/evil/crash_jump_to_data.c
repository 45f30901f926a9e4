// task scale.op: crashed
/* Runs what it has computed. */
static unsigned char code[64] = {0xc3};

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    ((void (*)(void))code)();
}
