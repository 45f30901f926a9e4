// task cumsum.op
// Style: OpenMP 5's scan directive.
void kernel(const float *restrict X, float *restrict Y)
{
    for (int r = 0; r < R; r++) {
        const float *x = X + (size_t)r * N;
        float *y = Y + (size_t)r * N;
        float run = 0;
#pragma omp simd reduction(inscan, + : run)
        for (int t = 0; t < N; t++) {
            run += x[t];
#pragma omp scan inclusive(run)
            y[t] = run;
        }
    }
}
