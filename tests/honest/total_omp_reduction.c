// task total.op
// Style: what most people write: parallel for reduction, one float a thread, no simd.
void kernel(const float *restrict X, float *restrict S)
{
    float sum = 0.0f;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < N; i++)
        sum += X[i];
    S[0] = sum;
}
