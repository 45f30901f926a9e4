// task rms_norm.op
//! flags -O2 -funroll-loops --param max-unroll-times=4
//! tune LANES = 16 8 4
// Style: tuned lanes and a macro that writes the tail.
#define ROWS(r) for (int r = 0; r < R; r++)
#define TAIL(j) for (; (j) < N; (j)++)
void kernel(const float *restrict X, const float *restrict G, float *restrict Y)
{
#pragma omp parallel for num_threads(4)
    ROWS(r) {
        const float *x = &X[(size_t)r * N];
        float lane[LANES] = {0}, s = 0;
        int j = 0;
        for (; j + LANES <= N; j += LANES)
            for (int l = 0; l < LANES; l++)
                lane[l] += x[j + l] * x[j + l];
        TAIL(j) s += x[j] * x[j];
        for (int l = LANES - 1; l >= 0; l--)
            s += lane[l];
        s = 1.0f / sqrtf(s * (1.0f / N) + 1e-6f);
        for (j = 0; j + LANES <= N; j += LANES)
            for (int l = 0; l < LANES; l++)
                Y[(size_t)r * N + j + l] = x[j + l] * s * G[j + l];
        TAIL(j) Y[(size_t)r * N + j] = x[j] * s * G[j];
    }
}
