// task sgemm.op
// Style: tasks on tiles of C with depend(inout), one for each block of k; taskgroup at the end.
enum { TILE = 32 };
static void block(const float *a, const float *b, float *c, int i0, int j0, int k0)
{
    for (int i = i0; i < i0 + TILE && i < M; i++)
        for (int j = j0; j < j0 + TILE && j < N; j++) {
            float s = k0 ? c[(size_t)i * N + j] : 0.0f;
            for (int k = k0; k < k0 + TILE && k < K; k++)
                s += a[(size_t)i * K + k] * b[(size_t)k * N + j];
            c[(size_t)i * N + j] = s;
        }
}
void kernel(const float *restrict A, const float *restrict B, float *restrict C)
{
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
    for (int k = 0; k < K; k += TILE)
        for (int i = 0; i < M; i += TILE)
            for (int j = 0; j < N; j += TILE) {
#pragma omp task firstprivate(i, j, k) depend(inout : C[(size_t)i * N + j])
                block(A, B, C, i, j, k);
            }
}
