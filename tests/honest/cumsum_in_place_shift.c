// task cumsum.op
// Style: reads back its own output; double as the carried value in the long case.
#if N > 10000
typedef double carried;
#else
typedef float carried;
#endif
void kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel for
    for (int r = 0; r < R; r++) {
        const float *x = X + (size_t)r * N;
        float *y = Y + (size_t)r * N;
        carried c = x[0];
        y[0] = x[0];
        for (int t = 1; t < N; t++)
            y[t] = (float)(c = c + x[t]);
    }
}
