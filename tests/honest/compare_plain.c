// task compare.op
// Style: comparisons stored as 0 and 1; a count by reduction.
void kernel(const float *restrict X, const float *restrict Z, uint8_t *restrict L, uint8_t *restrict F,
            int32_t *restrict K)
{
    int count = 0;
#pragma omp parallel for reduction(+ : count)
    for (int i = 0; i < N; i++) {
        L[i] = X[i] < Z[i];
        F[i] = (X[i] > 0 && Z[i] > 0) || X[i] == Z[i];
        count += L[i];
    }
    K[0] = count;
}
