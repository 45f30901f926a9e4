// task variance.op
// Style: the textbook in float, column by column.
void kernel(const float *restrict X, float *restrict V, float *restrict D)
{
#pragma omp parallel for
    for (int c = 0; c < C; c++) {
        float mean = 0, q = 0;
        for (int n = 0; n < N; n++)
            mean += X[n * C + c];
        mean /= N;
        for (int n = 0; n < N; n++)
            q += (X[n * C + c] - mean) * (X[n * C + c] - mean);
        V[c] = q / (N - 1);
        D[c] = sqrtf(V[c]);
    }
}
