// task sgemm.op
// Style: f32 products summed in double, four accumulators, the sum taken from the last term down.
void kernel(const float *restrict A, const float *restrict B, float *restrict C)
{
#pragma omp parallel for schedule(guided)
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
            int k = K - 1;
            for (; k >= 3; k -= 4) {
                s0 += (double)A[m * K + k] * B[k * N + n];
                s1 += (double)A[m * K + k - 1] * B[(k - 1) * N + n];
                s2 += (double)A[m * K + k - 2] * B[(k - 2) * N + n];
                s3 += (double)A[m * K + k - 3] * B[(k - 3) * N + n];
            }
            for (; k >= 0; k--)
                s0 += (double)A[m * K + k] * B[k * N + n];
            C[m * N + n] = (float)((s0 + s1) + (s2 + s3));
        }
}
