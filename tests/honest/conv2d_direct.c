// task conv2d.op
// Style: seven loops, bounds tested inside.
void kernel(const float *restrict X, const float *restrict F, float *restrict Y)
{
#pragma omp parallel for collapse(2)
    for (int n = 0; n < N; n++)
        for (int k = 0; k < K; k++)
            for (int y = 0; y < H; y++)
                for (int x = 0; x < W; x++) {
                    float acc = 0;
                    for (int c = 0; c < C; c++)
                        for (int r = 0; r < 3; r++)
                            for (int s = 0; s < 3; s++) {
                                const int yy = y + r - 1, xx = x + s - 1;
                                if (yy >= 0 && yy < H && xx >= 0 && xx < W)
                                    acc += F[((k * C + c) * 3 + r) * 3 + s] * X[((n * C + c) * H + yy) * W + xx];
                            }
                    Y[((n * K + k) * H + y) * W + x] = acc;
                }
}
