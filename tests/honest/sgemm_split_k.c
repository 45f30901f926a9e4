// task sgemm.op
// Style: split-K, a private copy of C for each thread from calloc, added under omp critical.
void kernel(const float *restrict A, const float *restrict B, float *restrict C)
{
    memset(C, 0, (size_t)M * N * sizeof *C);
#pragma omp parallel
    {
        float *mine = calloc((size_t)M * N, sizeof *mine);
        if (mine == NULL)
            abort();
#pragma omp for schedule(runtime) nowait
        for (int k = 0; k < K; k++)
            for (int m = 0; m < M; m++)
                for (int n = 0; n < N; n++)
                    mine[m * N + n] += A[m * K + k] * B[k * N + n];
#pragma omp critical(add)
        for (int e = 0; e < M * N; e++)
            C[e] += mine[e];
        free(mine);
    }
}
