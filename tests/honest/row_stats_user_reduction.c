// task row_stats.op
// Style: omp declare reduction for the maximum with its place; threads share one row.
struct place {
    float value;
    int at;
};
static struct place better(struct place a, struct place b)
{
    if (b.value > a.value || (b.value == a.value && b.at < a.at))
        return b;
    return a;
}
#pragma omp declare reduction(top : struct place : omp_out = better(omp_out, omp_in)) \
    initializer(omp_priv = (struct place){-INFINITY, 0x7fffffff})

void kernel(const float *restrict X, float *restrict S, float *restrict U, float *restrict M, int32_t *restrict A)
{
    for (int r = 0; r < R; r++) {
        const float *x = X + (size_t)r * N;
        struct place p = {x[0], 0};
        double s = 0;
#pragma omp parallel for reduction(top : p) reduction(+ : s)
        for (int j = 0; j < N; j++) {
            p = better(p, (struct place){x[j], j});
            s += x[j];
        }
        S[r] = (float)s;
        U[r] = (float)(s / N);
        M[r] = p.value;
        A[r] = p.at;
    }
}
