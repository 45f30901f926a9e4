// task conv2d.op
// Style: Winograd F(2,3) along x, transformed filters and sums in double; a pair that comes out
// infinite or NaN is done again the plain way, since inf - inf is no sum of the convolution's.
#define AT(yy, xx) ((yy) >= 0 && (yy) < H && (xx) >= 0 && (xx) < W ? plane[(yy) * W + (xx)] : 0.0f)

static void plain(const float *image, const float *f, float *out, int y, int x0)
{
    for (int x = x0; x < x0 + 2 && x < W; x++) {
        double sum = 0;
        for (int c = 0; c < C; c++)
            for (int t = 0; t < 9; t++) {
                const float *plane = image + (size_t)c * H * W;
                const int yy = y + t / 3 - 1, xx = x + t % 3 - 1;
                if (yy >= 0 && yy < H && xx >= 0 && xx < W) /* 0 * inf is no term there */
                    sum += (double)f[c * 9 + t] * AT(yy, xx);
            }
        out[x - x0] = (float)sum;
    }
}

void kernel(const float *restrict X, const float *restrict F, float *restrict Y)
{
    static double u[K][C][3][4];
    for (int k = 0; k < K; k++)
        for (int c = 0; c < C; c++)
            for (int r = 0; r < 3; r++) {
                const float *g = F + ((k * C + c) * 3 + r) * 3;
                u[k][c][r][0] = g[0];
                u[k][c][r][1] = 0.5 * ((double)g[0] + g[1] + g[2]);
                u[k][c][r][2] = 0.5 * ((double)g[0] - g[1] + g[2]);
                u[k][c][r][3] = g[2];
            }
#pragma omp parallel for collapse(3)
    for (int n = 0; n < N; n++)
        for (int k = 0; k < K; k++)
            for (int y = 0; y < H; y++)
                for (int x = 0; x < W; x += 2) {
                    double m[4] = {0};
                    for (int c = 0; c < C; c++) {
                        const float *plane = X + ((size_t)n * C + c) * H * W;
                        for (int r = 0; r < 3; r++) {
                            const double d0 = AT(y + r - 1, x - 1), d1 = AT(y + r - 1, x);
                            const double d2 = AT(y + r - 1, x + 1), d3 = AT(y + r - 1, x + 2);
                            m[0] += (d0 - d2) * u[k][c][r][0];
                            m[1] += (d1 + d2) * u[k][c][r][1];
                            m[2] += (d2 - d1) * u[k][c][r][2];
                            m[3] += (d1 - d3) * u[k][c][r][3];
                        }
                    }
                    float *out = Y + (((size_t)n * K + k) * H + y) * W + x;
                    if (!isfinite(m[0] + m[1] + m[2] + m[3])) {
                        plain(X + (size_t)n * C * H * W, F + k * C * 9, out, y, x);
                        continue;
                    }
                    out[0] = (float)(m[0] + m[1] + m[2]);
                    if (x + 1 < W)
                        out[1] = (float)(m[1] - m[2] - m[3]);
                }
}
