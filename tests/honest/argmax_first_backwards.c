// task argmax_first.op
// Style: from the last row up with >=, so that the first among equals still wins.
void kernel(const float *restrict X, int32_t *restrict A)
{
#pragma omp parallel for schedule(static, 16)
    for (int c = 0; c < C; c++) {
        int32_t at = N - 1;
        for (int n = N - 2; n >= 0; n--)
            if (X[(size_t)n * C + c] >= X[(size_t)at * C + c])
                at = n;
        A[c] = at;
    }
}
