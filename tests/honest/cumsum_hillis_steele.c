// task cumsum.op
// Style: Hillis-Steele in blocks of 64, two buffers, then the carry is added.
enum { BLOCK = 64 };
static float scan_block(const float *x, float *y, int n, float carry)
{
    float a[BLOCK], b[BLOCK];
    float *from = a, *to = b;
    memcpy(from, x, n * sizeof *from);
    for (int d = 1; d < n; d *= 2) {
        for (int i = 0; i < n; i++)
            to[i] = i >= d ? from[i] + from[i - d] : from[i];
        float *swap = from;
        from = to;
        to = swap;
    }
    for (int i = 0; i < n; i++)
        y[i] = carry + from[i];
    return y[n - 1];
}
void kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel for schedule(static, 1)
    for (int r = 0; r < R; r++) {
        float carry = 0;
        for (int t = 0; t < N; t += BLOCK)
            carry = scan_block(X + (size_t)r * N + t, Y + (size_t)r * N + t, N - t < BLOCK ? N - t : BLOCK, carry);
    }
}
