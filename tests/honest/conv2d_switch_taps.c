// task conv2d.op
//! flags -O3 -fno-tree-loop-distribute-patterns
// Style: one pass over the output for each tap, the borders by a switch, Duff-like fallthrough.
static void add_tap(const float *in, float *out, float f, int dy, int dx)
{
    const int y0 = dy < 0 ? 1 : 0, y1 = dy > 0 ? H - 1 : H;
    for (int y = y0; y < y1; y++) {
        const float *a = in + (y + dy) * W + dx;
        float *b = out + y * W;
        int x = 0, end = W;
        switch (dx) {
        case -1:
            x = 1;
            break;
        case 1:
            end = W - 1;
            /* fall through */
        default:
            break;
        }
        for (; x < end; x++)
            b[x] += f * a[x];
    }
}

void kernel(const float *restrict X, const float *restrict F, float *restrict Y)
{
#pragma omp parallel for collapse(2) schedule(dynamic)
    for (int n = 0; n < N; n++)
        for (int k = 0; k < K; k++) {
            float *out = Y + ((size_t)n * K + k) * H * W;
            for (int e = 0; e < H * W; e++)
                out[e] = 0;
            for (int c = 0; c < C; c++)
                for (int t = 0; t < 9; t++)
                    add_tap(X + ((size_t)n * C + c) * H * W, out, F[(k * C + c) * 9 + t], t / 3 - 1, t % 3 - 1);
        }
}
