// task image.op
// Style: as written.
void kernel(const uint8_t *restrict X, const float *restrict U, const float *restrict S, float *restrict Y,
            uint8_t *restrict P)
{
#pragma omp parallel for
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            const uint8_t *p = X + (y * W + x) * 3;
            for (int c = 0; c < 3; c++)
                Y[(c * H + y) * W + x] = (p[c] / 255.0f - U[c]) / S[c];
            uint8_t m = p[0] > p[1] ? p[0] : p[1];
            P[y * W + x] = m > p[2] ? m : p[2];
        }
}
