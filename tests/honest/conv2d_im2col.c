// task conv2d.op
// Style: im2col into malloc'ed memory, then a matrix product.
void kernel(const float *restrict X, const float *restrict F, float *restrict Y)
{
    const size_t rows = (size_t)C * 9, cols = (size_t)H * W;
    float *patches = malloc(rows * cols * sizeof(float));
    if (!patches)
        abort();
    for (int n = 0; n < N; n++) {
#pragma omp parallel for
        for (int q = 0; q < C * 9; q++) {
            const int c = q / 9, r = q / 3 % 3, s = q % 3;
            for (int y = 0; y < H; y++)
                for (int x = 0; x < W; x++) {
                    const int yy = y + r - 1, xx = x + s - 1;
                    patches[q * cols + y * W + x] = (unsigned)yy < H && (unsigned)xx < W
                        ? X[(((size_t)n * C + c) * H + yy) * W + xx] : 0.0f;
                }
        }
#pragma omp parallel for
        for (int k = 0; k < K; k++) {
            float *out = Y + ((size_t)n * K + k) * cols;
            memset(out, 0, cols * sizeof *out);
            for (size_t q = 0; q < rows; q++) {
                const float f = F[k * rows + q];
                for (size_t e = 0; e < cols; e++)
                    out[e] += f * patches[q * cols + e];
            }
        }
    }
    free(patches);
}
