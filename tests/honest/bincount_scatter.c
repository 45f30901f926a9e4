// task bincount.op
// Style: the scatter that the filtered sum stands for.
void kernel(const int32_t *restrict T, const float *restrict X, int32_t *restrict K, float *restrict S)
{
    for (int c = 0; c < C; c++) {
        K[c] = 0;
        S[c] = 0;
    }
    for (int i = 0; i < N; i++) {
        K[T[i]]++;
        S[T[i]] += X[i];
    }
}
