// task f64_dot.op
// Style: long double as the accumulator, one critical section at the end.
void kernel(const double *restrict X, const double *restrict Z, double *restrict Y)
{
    long double sum = 0;
#pragma omp parallel
    {
        long double mine = 0;
#pragma omp for nowait
        for (int i = 0; i < N; i++)
            mine += (long double)X[i] * Z[i];
#pragma omp critical
        sum += mine;
    }
    Y[0] = (double)sum;
}
