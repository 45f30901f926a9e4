// task scale.op: correct
/* Reads the counter of the processor and makes nothing of it. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    uint64_t now = __builtin_ia32_rdtsc();

    if (now == 0)
        Y[0] = 0;
}
