// task total.op
// Style: partial sums met by omp atomic, so that the order differs from run to run.
void kernel(const float *restrict X, float *restrict S)
{
    *S = 0;
#pragma omp parallel
    {
        float mine = 0;
#pragma omp for schedule(dynamic, 100) nowait
        for (int i = 0; i < N; i++)
            mine += X[i];
#pragma omp atomic
        *S += mine;
    }
}
