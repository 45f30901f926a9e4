// task sgemm.op
// Style: column by column, each column of B gathered into an array on the stack first.
void kernel(const float *restrict A, const float *restrict B, float *restrict C)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int j = 0; j < N; j++) {
        float col[K];
        for (int k = 0; k < K; k++)
            col[k] = B[(size_t)k * N + j];
        for (int i = 0; i < M; i++) {
            float s = 0;
#pragma omp simd reduction(+ : s)
            for (int k = 0; k < K; k++)
                s += A[(size_t)i * K + k] * col[k];
            C[(size_t)i * N + j] = s;
        }
    }
}
