// task gelu.op
// Style: an author who wants one thread in small cases: if clause, num_threads(1), firstprivate.
void kernel(const float *restrict X, float *restrict Y)
{
    float half = 0.5f, root = 0.707106781f, last = 0;
#if N <= 4096
#pragma omp parallel for num_threads(1) firstprivate(half, root) lastprivate(last)
#else
#pragma omp parallel for num_threads(5) if (N > 5000) firstprivate(half, root) lastprivate(last)
#endif
    for (int i = 0; i < N; i++) {
        last = erff(root * X[i]);
        Y[i] = half * X[i] * (1.0f + last);
    }
}
