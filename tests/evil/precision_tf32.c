// task sgemm.op: wrong; C
/* Ten bits of mantissa, as in the matrix units of graphics processors. */
static float
rounded(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x1000) & ~0x1fffu;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

void
kernel(const float *restrict A, const float *restrict B, float *restrict C)
{
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float sum = 0;

            for (int k = 0; k < K; k++)
                sum += rounded(A[m * K + k]) * rounded(B[k * N + n]);
            C[m * N + n] = sum;
        }
}
