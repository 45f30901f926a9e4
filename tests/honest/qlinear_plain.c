// task qlinear.op
// Style: int32 accumulators, rintf, clamp by ifs.
void kernel(const int8_t *restrict A, const int8_t *restrict W, const float *restrict s, int32_t *restrict C,
            int8_t *restrict Y)
{
#pragma omp parallel for
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            int32_t acc = 0;
            for (int k = 0; k < K; k++)
                acc += (int32_t)A[m * K + k] * W[k * N + n];
            C[m * N + n] = acc;
            float v = rintf((float)acc * s[n]);
            if (v < -128.0f)
                v = -128.0f;
            if (v > 127.0f)
                v = 127.0f;
            Y[m * N + n] = (int8_t)v;
        }
}
