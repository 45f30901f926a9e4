// task argmax_first.op
// Style: running maxima of all columns in static scratch, row after row.
static float best[C];
void kernel(const float *restrict X, int32_t *restrict A)
{
    memcpy(best, X, sizeof best);
    memset(A, 0, C * sizeof *A);
    for (int n = 1; n < N; n++)
        for (int c = 0; c < C; c++) {
            const float v = X[(size_t)n * C + c];
            const int more = v > best[c];
            best[c] = more ? v : best[c];
            A[c] = more ? n : A[c];
        }
}
