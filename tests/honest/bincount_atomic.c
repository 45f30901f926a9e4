// task bincount.op
// Style: all threads into the outputs by omp atomic; the order of terms differs from run to run.
void kernel(const int32_t *restrict T, const float *restrict X, int32_t *restrict K, float *restrict S)
{
    memset(K, 0, C * sizeof *K);
    memset(S, 0, C * sizeof *S);
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
#pragma omp atomic
        K[T[i]] += 1;
#pragma omp atomic
        S[T[i]] += X[i];
    }
}
