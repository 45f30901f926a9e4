// task cumsum.op
// Style: each row cut into as many chunks as there are threads; sums of chunks, barrier, then scans.
static float chunk_sum[256];
void kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel
    {
        const int t = omp_get_thread_num(), nt = omp_get_num_threads();
        const int from = (int)((long)N * t / nt), to = (int)((long)N * (t + 1) / nt);
        for (int r = 0; r < R; r++) {
            const float *x = X + (size_t)r * N;
            float *y = Y + (size_t)r * N;
            float s = 0;
            for (int j = from; j < to; j++)
                s += x[j];
            chunk_sum[t] = s;
#pragma omp barrier
            float run = 0;
            for (int i = 0; i < t; i++)
                run += chunk_sum[i];
            for (int j = from; j < to; j++)
                y[j] = run += x[j];
#pragma omp barrier
        }
    }
}
