// task big_add.op
//! tune CHUNK = 4096 16384 65536
// Style: dynamic chunks, prefetch inside the bounds, unrolled by hand.
void kernel(const float *restrict X, const float *restrict Z, float *restrict Y)
{
#pragma omp parallel for schedule(dynamic)
    for (int c = 0; c < N; c += CHUNK) {
        const int end = c + CHUNK < N ? c + CHUNK : N;
        int i = c;
        for (; i + 8 <= end; i += 8) {
            if (i + 136 <= end) {
                __builtin_prefetch(X + i + 128);
                __builtin_prefetch(Z + i + 128);
            }
            Y[i] = X[i] + Z[i];
            Y[i + 1] = X[i + 1] + Z[i + 1];
            Y[i + 2] = X[i + 2] + Z[i + 2];
            Y[i + 3] = X[i + 3] + Z[i + 3];
            Y[i + 4] = X[i + 4] + Z[i + 4];
            Y[i + 5] = X[i + 5] + Z[i + 5];
            Y[i + 6] = X[i + 6] + Z[i + 6];
            Y[i + 7] = X[i + 7] + Z[i + 7];
        }
        while (i < end) {
            Y[i] = X[i] + Z[i];
            i++;
        }
    }
}
