// task sgemm.op
// Style: memset the output, loop order ikj, += into memory; parameter names are other ones.
void kernel(const float *a, const float *b, float *out)
{
    memset(out, 0, sizeof(float) * M * N);
#pragma omp parallel for
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++) {
            const float aik = a[(size_t)i * K + k];
#pragma omp simd
            for (int j = 0; j < N; j++)
                out[(size_t)i * N + j] += aik * b[(size_t)k * N + j];
        }
}
