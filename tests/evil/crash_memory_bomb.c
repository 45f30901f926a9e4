// task scale.op: crashed
/* Takes memory until there is none and does not look at the answer. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    for (;;) {
        volatile char *more = malloc((size_t)256 << 20);

        more[0] = 1;
    }
}
