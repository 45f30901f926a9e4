// task cross_entropy.op
// Style: the target's logit taken off first; the winner's 1 kept out of the sum, log1pf.
void kernel(const float *restrict X, const int32_t *restrict T, float *restrict Y)
{
    float part[64] = {0}, total = 0;
#pragma omp parallel num_threads(8)
    {
        const int t = omp_get_thread_num(), n = omp_get_num_threads();
        float mine = 0;
        for (int b = t; b < B; b += n) {
            const float *x = X + (size_t)b * C;
            int top = 0;
            float s = 0;
            for (int c = 1; c < C; c++)
                if (x[c] > x[top])
                    top = c;
            for (int c = 0; c < C; c++)
                if (c != top)
                    s += expf(x[c] - x[top]);
            mine += log1pf(s) + (x[top] - x[T[b]]);
        }
        part[t] = mine;
    }
    for (int t = 0; t < 64; t++)
        total += part[t];
    *Y = total / B;
}
