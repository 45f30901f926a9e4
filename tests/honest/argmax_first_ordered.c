// task argmax_first.op
// Style: row blocks in parallel, merged in order by omp ordered.
void kernel(const float *restrict X, int32_t *restrict A)
{
    float best[C];
    for (int c = 0; c < C; c++) {
        best[c] = X[c];
        A[c] = 0;
    }
#pragma omp parallel for ordered schedule(dynamic, 1)
    for (int b = 0; b < N; b += 8) {
        float v[C];
        int32_t at[C];
        for (int c = 0; c < C; c++) {
            v[c] = X[(size_t)b * C + c];
            at[c] = b;
            for (int n = b + 1; n < b + 8 && n < N; n++)
                if (X[(size_t)n * C + c] > v[c])
                    v[c] = X[(size_t)n * C + c], at[c] = n;
        }
#pragma omp ordered
        for (int c = 0; c < C; c++)
            if (v[c] > best[c])
                best[c] = v[c], A[c] = at[c];
    }
}
