// task qlinear.op
// Style: A shifted to unsigned, corrected by the column sums of W; round by nearbyint in double.
void kernel(const signed char *A, const signed char *W, const float *s, int *C, signed char *Y)
{
    int colsum[N];
    for (int n = 0; n < N; n++) {
        colsum[n] = 0;
        for (int k = 0; k < K; k++)
            colsum[n] += W[k * N + n];
    }
#pragma omp parallel for schedule(dynamic)
    for (int m = 0; m < M; m++) {
        unsigned acc[N];
        memset(acc, 0, sizeof acc);
        for (int k = 0; k < K; k++) {
            const unsigned a = (unsigned)(A[m * K + k] + 128);
            for (int n = 0; n < N; n++)
                acc[n] += a * (unsigned)(int)W[k * N + n];
        }
        for (int n = 0; n < N; n++) {
            const int c = (int)(acc[n] - 128u * (unsigned)colsum[n]);
            C[m * N + n] = c;
            Y[m * N + n] = (signed char)fmin(fmax(nearbyint((double)((float)c * s[n])), -128), 127);
        }
    }
}
