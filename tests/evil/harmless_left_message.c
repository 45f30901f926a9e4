// task scale.op: correct
/* Leaves a message on the page of the handshake for the next process and is wrong where it finds
 * one. Whoever can do that can keep answers from process to process: a kernel for mean.op that did
 * was called correct, 19 to 50 times as fast as naive in four verdicts. */
void
kernel(const float *restrict X, float *restrict Y)
{
    static int first = 1;
    volatile uint32_t *end = (volatile uint32_t *)(uintptr_t)(0x100000000000 + 4096 - 64);

    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    if (first && *end == 0x5eed)
        Y[0] = 0;
    first = 0;
    *end = 0x5eed;
}
