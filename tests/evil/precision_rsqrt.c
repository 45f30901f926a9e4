// task norm.op: wrong; Y
/* The fast reciprocal root: 12 bits. */
#include <immintrin.h>

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int r = 0; r < R; r++) {
        const float *x = X + r * N;
        float mean = 0, square = 0;

        for (int j = 0; j < N; j++)
            mean += x[j];
        mean /= N;
        for (int j = 0; j < N; j++)
            square += (x[j] - mean) * (x[j] - mean);
        square = _mm_cvtss_f32(_mm_rsqrt_ss(_mm_set_ss(square / N + 1e-5f)));
        for (int j = 0; j < N; j++)
            Y[r * N + j] = (x[j] - mean) * square;
    }
}
