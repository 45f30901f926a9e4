// task transpose.op
// Style: __builtin_prefetch ahead of the column walk (never beyond the input), taskloop.
void kernel(const float *restrict in, float *restrict out)
{
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(8)
    for (int n = 0; n < N; n++)
        for (int m = 0; m < M; m++) {
            if (m + 16 < M)
                __builtin_prefetch(&in[(size_t)(m + 16) * N + n], 0, 1);
            out[(size_t)n * M + m] = in[(size_t)m * N + n];
        }
}
