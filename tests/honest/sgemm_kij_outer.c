// task sgemm.op
// Style: outer products (kij), all threads meet at every k: the loop is inside the parallel region.
void kernel(const float *restrict A, const float *restrict B, float *restrict C)
{
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int e = 0; e < M * N; e++)
            C[e] = 0;
        for (int k = 0; k < K; k++) {
#pragma omp for schedule(static)
            for (int i = 0; i < M; i++)
                for (int j = 0; j < N; j++)
                    C[i * N + j] += A[i * K + k] * B[k * N + j];
        }
    }
}
