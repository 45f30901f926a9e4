// task max_pool.op
// Style: bounds clipped before the loops, fmaxf.
void kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel for collapse(2) schedule(static)
    for (int n = 0; n < N; n++)
        for (int c = 0; c < C; c++)
            for (int y = 0; y < OH; y++)
                for (int x = 0; x < OW; x++) {
                    const int y0 = 2 * y > 0 ? 2 * y - 1 : 0, y1 = 2 * y + 1 < H ? 2 * y + 1 : H - 1;
                    const int x0 = 2 * x > 0 ? 2 * x - 1 : 0, x1 = 2 * x + 1 < W ? 2 * x + 1 : W - 1;
                    float m = -INFINITY;
                    for (int yy = y0; yy <= y1; yy++)
                        for (int xx = x0; xx <= x1; xx++)
                            m = fmaxf(m, X[(((size_t)n * C + c) * H + yy) * W + xx]);
                    Y[(((size_t)n * C + c) * OH + y) * OW + x] = m;
                }
}
