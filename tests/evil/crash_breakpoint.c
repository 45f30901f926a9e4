// task scale.op: crashed
/* A breakpoint: whoever traces the process is told, and could take it for news of its own. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    __asm__ volatile("int3");
}
