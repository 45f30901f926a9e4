// task scale.op: correct
/* Fills the page of the handshake with lies, but for the word that it must not touch. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    char *page = (char *)(uintptr_t)0x100000000000;

    memset(page, 0xff, 128);
    memset(page + 256, 'A', 4096 - 256);
}
