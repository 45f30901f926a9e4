// task sgemm.op
// Style: an author who reserves for the worst case: 200 MB of static scratch, of which little is
// used. B is kept transposed in it.
static float arena[50 * 1000 * 1000];

void kernel(const float *restrict A, const float *restrict B, float *restrict C)
{
    float *bt = arena + 1234560; /* somewhere in the middle */
#pragma omp parallel
    {
#pragma omp for collapse(2)
        for (int n = 0; n < N; n++)
            for (int k = 0; k < K; k++)
                bt[(size_t)n * K + k] = B[(size_t)k * N + n];
#pragma omp for collapse(2) schedule(static, 8)
        for (int m = 0; m < M; m++)
            for (int n = 0; n < N; n++) {
                float lanes[8] = {0}, s = 0;
                int k = 0;
                for (; k + 8 <= K; k += 8)
                    for (int l = 0; l < 8; l++)
                        lanes[l] += A[(size_t)m * K + k + l] * bt[(size_t)n * K + k + l];
                for (; k < K; k++)
                    s += A[(size_t)m * K + k] * bt[(size_t)n * K + k];
                for (int l = 0; l < 8; l++)
                    s += lanes[l];
                C[(size_t)m * N + n] = s;
            }
    }
}
