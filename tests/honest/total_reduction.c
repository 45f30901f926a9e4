// task total.op
// Style: parallel for reduction.
void kernel(const float *restrict X, float *restrict S)
{
    float s = 0;
#pragma omp parallel for simd reduction(+ : s)
    for (int i = 0; i < N; i++)
        s += X[i];
    S[0] = s;
}
