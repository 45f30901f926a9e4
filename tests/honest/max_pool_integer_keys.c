// task max_pool.op
// Style: floats compared as integers (sign folded), which orders them the same way.
static inline int32_t key(float f)
{
    int32_t i;
    memcpy(&i, &f, sizeof i);
    return i ^ ((i >> 31) & 0x7fffffff);
}
static inline float unkey(int32_t i)
{
    float f;
    i ^= (i >> 31) & 0x7fffffff;
    memcpy(&f, &i, sizeof f);
    return f;
}
void kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel for schedule(dynamic, 2)
    for (int p = 0; p < N * C; p++)
        for (int o = 0; o < OH * OW; o++) {
            const int cy = 2 * (o / OW), cx = 2 * (o % OW);
            int32_t best = key(X[(size_t)p * H * W + cy * W + cx]);
            for (int t = 0; t < 9; t++) {
                const int y = cy + t / 3 - 1, x = cx + t % 3 - 1;
                if (y < 0 || y >= H || x < 0 || x >= W)
                    continue;
                const int32_t k = key(X[(size_t)p * H * W + y * W + x]);
                best = k > best ? k : best;
            }
            Y[(size_t)p * OH * OW + o] = unkey(best);
        }
}
