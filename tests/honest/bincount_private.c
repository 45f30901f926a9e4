// task bincount.op
// Style: array sections in a reduction clause.
void kernel(const int32_t *restrict T, const float *restrict X, int32_t *restrict K, float *restrict S)
{
    int count[C];
    double sum[C];
    for (int c = 0; c < C; c++)
        count[c] = 0, sum[c] = 0;
#pragma omp parallel for reduction(+ : count[:C], sum[:C]) schedule(static, 33)
    for (int i = 0; i < N; i++) {
        count[T[i]]++;
        sum[T[i]] += X[i];
    }
    for (int c = 0; c < C; c++) {
        K[c] = count[c];
        S[c] = (float)sum[c];
    }
}
