// task softmax.op
// Style: the online rule of FlashAttention, a block of 64 at a time: rescaled once a block.
#define BLOCK 64
void kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel for schedule(dynamic, 1) if (R > 1)
    for (int r = 0; r < R; r++) {
        const float *x = X + (size_t)r * N;
        float run_max = -INFINITY, run_sum = 0.0f;
        for (int b = 0; b < N; b += BLOCK) {
            const int end = b + BLOCK < N ? b + BLOCK : N;
            float m = run_max, s = 0.0f;
            for (int j = b; j < end; j++)
                m = x[j] > m ? x[j] : m;
            if (m == -INFINITY)
                continue;
            for (int j = b; j < end; j++)
                s += expf(x[j] - m);
            run_sum = run_sum * expf(run_max - m) + s;
            run_max = m;
        }
        for (int j = 0; j < N; j++)
            Y[(size_t)r * N + j] = expf(x[j] - run_max) / run_sum;
    }
}
