// task layer_norm.op
// Style: mean, then variance, then the row; omp simd reductions, 1/sqrtf.
void kernel(const float *restrict X, const float *restrict G, const float *restrict B, float *restrict Y)
{
#pragma omp parallel for schedule(static)
    for (int r = 0; r < R; r++) {
        const float *x = X + (size_t)r * N;
        float *y = Y + (size_t)r * N;
        float mean = 0, var = 0;
#pragma omp simd reduction(+ : mean)
        for (int j = 0; j < N; j++)
            mean += x[j];
        mean /= N;
#pragma omp simd reduction(+ : var)
        for (int j = 0; j < N; j++)
            var += (x[j] - mean) * (x[j] - mean);
        var /= N;
        const float rstd = 1.0f / sqrtf(var + 1e-5f);
#pragma omp simd
        for (int j = 0; j < N; j++)
            y[j] = (x[j] - mean) * rstd * G[j] + B[j];
    }
}
