// task softmax.op: correct
/* The fast reciprocal with the step that makes it right. */
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
        float q = _mm_cvtss_f32(_mm_rcp_ss(_mm_set_ss(sum)));

        q += q * (1 - q * sum);
        for (int j = 0; j < N; j++)
            y[j] *= q;
    }
}
