// task transpose.op
//! tune T = 16 32 8
// Style: tiles, collapse(2).
void kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel for collapse(2) schedule(static)
    for (int i = 0; i < M; i += T)
        for (int j = 0; j < N; j += T)
            for (int n = j; n < j + T && n < N; n++)
                for (int m = i; m < i + T && m < M; m++)
                    Y[(size_t)n * M + m] = X[(size_t)m * N + n];
}
