// task rms_norm.op
// Style: whole 64-byte vectors are read at the very end of the input (the contract allows it) and
// what lies behind is masked away; the row before it is read the same way.
typedef float v16 __attribute__((vector_size(64), aligned(4)));
void kernel(const float *restrict X, const float *restrict G, float *restrict Y)
{
    const float *end = X + ((size_t)R * N + 15) / 16 * 16; /* of what may be read */
#pragma omp parallel for
    for (int r = 0; r < R; r++) {
        const float *x = X + (size_t)r * N;
        float s = 0;
        v16 acc = {0};
        for (int j = 0; j < N; j += 16) {
            v16 a = {0};
            if (x + j + 16 <= end)
                a = *(const v16 *)(x + j);
            else
                memcpy(&a, x + j, (size_t)(end - (x + j)) * sizeof(float));
            for (int l = 0; l < 16; l++)
                a[l] = j + l < N ? a[l] : 0.0f;
            acc += a * a;
        }
        for (int l = 0; l < 16; l++)
            s += acc[l];
        s = 1.0f / sqrtf(s / N + 1e-6f);
        for (int j = 0; j < N; j++)
            Y[(size_t)r * N + j] = x[j] * s * G[j];
    }
}
