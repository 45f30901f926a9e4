// task conv2d.op
// Style: a zero-padded copy of the image in static scratch, then loops without bounds; collapse(3).
static float padded[N][C][H + 2][W + 2];
void kernel(const float *restrict X, const float *restrict F, float *restrict Y)
{
#pragma omp parallel
    {
#pragma omp for collapse(3)
        for (int n = 0; n < N; n++)
            for (int c = 0; c < C; c++)
                for (int y = 0; y < H + 2; y++) {
                    float *row = padded[n][c][y];
                    if (y == 0 || y == H + 1) {
                        memset(row, 0, sizeof padded[0][0][0]);
                        continue;
                    }
                    row[0] = row[W + 1] = 0;
                    memmove(row + 1, X + (((size_t)n * C + c) * H + y - 1) * W, W * sizeof *row);
                }
#pragma omp for collapse(3) schedule(static)
        for (int n = 0; n < N; n++)
            for (int k = 0; k < K; k++)
                for (int y = 0; y < H; y++) {
                    float row[W];
                    for (int x = 0; x < W; x++)
                        row[x] = 0;
                    for (int c = 0; c < C; c++)
                        for (int r = 0; r < 3; r++) {
                            const float *f = F + ((k * C + c) * 3 + r) * 3;
                            const float *p = padded[n][c][y + r];
                            for (int x = 0; x < W; x++)
                                row[x] += f[0] * p[x] + f[1] * p[x + 1] + f[2] * p[x + 2];
                        }
                    memcpy(Y + (((size_t)n * K + k) * H + y) * W, row, sizeof row);
                }
    }
}
