// task attention.op
// Style: keys transposed once into aligned_alloc memory, rows of scores by vectors, normalised last.
void kernel(const float *restrict Q, const float *restrict K, const float *restrict V, float *restrict O)
{
    float *kt = aligned_alloc(64, ((size_t)H * D * S * sizeof(float) + 63) / 64 * 64);
    if (!kt)
        abort();
    for (int h = 0; h < H; h++)
        for (int j = 0; j < S; j++)
            for (int d = 0; d < D; d++)
                kt[((size_t)h * D + d) * S + j] = K[((size_t)h * S + j) * D + d];
#pragma omp parallel for schedule(static, 2)
    for (int row = 0; row < H * S; row++) {
        const int h = row / S, i = row % S;
        float s[S], o[D];
        for (int j = 0; j <= i; j++)
            s[j] = 0;
        for (int d = 0; d < D; d++) {
            const float q = Q[(size_t)row * D + d] / sqrtf(D);
            for (int j = 0; j <= i; j++)
                s[j] += q * kt[((size_t)h * D + d) * S + j];
        }
        float m = s[0], sum = 0;
        for (int j = 1; j <= i; j++)
            m = m < s[j] ? s[j] : m;
        for (int d = 0; d < D; d++)
            o[d] = 0;
        for (int j = 0; j <= i; j++) {
            const float e = expf(s[j] - m);
            sum += e;
            for (int d = 0; d < D; d++)
                o[d] += e * V[((size_t)h * S + j) * D + d];
        }
        for (int d = 0; d < D; d++)
            O[(size_t)row * D + d] = o[d] * (1.0f / sum);
    }
    free(kt);
}
