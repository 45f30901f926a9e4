// task image.op
// Style: 256 results a channel from a table that each call fills anew; a const static table too.
static float table[3][256];
static const unsigned char channel_order[3] = {2, 0, 1};
void kernel(const uint8_t *restrict X, const float *restrict U, const float *restrict S, float *restrict Y,
            uint8_t *restrict P)
{
    for (int c = 0; c < 3; c++)
        for (int v = 0; v < 256; v++)
            table[c][v] = ((float)v / 255.0f - U[c]) / S[c];
#pragma omp parallel for schedule(static, 500)
    for (int e = 0; e < H * W; e++) {
        int most = 0;
        for (int o = 0; o < 3; o++) {
            const int c = channel_order[o], v = X[3 * e + c];
            Y[c * H * W + e] = table[c][v];
            most = most - ((most - v) & ((most - v) >> 31));
        }
        P[e] = (uint8_t)most;
    }
}
