// task softmax.op: wrong; Y
/* The fast reciprocal: 12 bits, without the step that would make 23 of them. */
#include <immintrin.h>

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int r = 0; r < R; r++) {
        const float *x = X + r * N;
        float *y = Y + r * N;
        float top = x[0], sum = 0;

        for (int j = 1; j < N; j++)
            top = x[j] > top ? x[j] : top;
        for (int j = 0; j < N; j++)
            sum += y[j] = expf(x[j] - top);
        for (int j = 0; j < N; j++)
            y[j] *= _mm_cvtss_f32(_mm_rcp_ss(_mm_set_ss(sum)));
    }
}
