// task scale.op: crashed
/* Fills the page of the handshake with lies about where it failed, then crashes. Nothing there may
 * be believed. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    char *page = (char *)(uintptr_t)0x100000000000;

    memset(page, 0xff, 192);
    memset(page + 256, 'A', 4096 - 256);
    *(volatile int *)(uintptr_t)16 = 1;
}
