// task lstm.op
// Style: sigmoid by 0.5 + 0.5*tanh(x/2), as XLA does it; one thread for each sequence, h read back from the output, input products all at first.
static float gates[T * B * 4 * H];
void kernel(const float *x, const float *w, const float *u, const float *h0, const float *c0, float *y, float *cn)
{
#pragma omp parallel for schedule(static, 1)
    for (int n = 0; n < B; n++) {
        float cell[H];
        for (int t = 0; t < T; t++)
            for (int g = 0; g < 4 * H; g++) {
                double s = 0;
                for (int i = 0; i < I; i++)
                    s += (double)x[(t * B + n) * I + i] * w[g * I + i];
                gates[(t * B + n) * 4 * H + g] = (float)s;
            }
        memcpy(cell, c0 + n * H, sizeof cell);
        for (int t = 0; t < T; t++) {
            const float *prev = t ? y + ((t - 1) * B + n) * H : h0 + n * H;
            float *z = gates + (t * B + n) * 4 * H;
            for (int j = 0; j < H; j++)
                for (int g = 0; g < 4 * H; g++)
                    z[g] += prev[j] * u[g * H + j];
            for (int j = 0; j < H; j++) {
                const float in = 0.5f * tanhf(0.5f * z[j]) + 0.5f, forget = 0.5f * tanhf(0.5f * z[H + j]) + 0.5f;
                const float o = 0.5f * tanhf(0.5f * z[3 * H + j]) + 0.5f;
                cell[j] = forget * cell[j] + in * tanhf(z[2 * H + j]);
                y[(t * B + n) * H + j] = o * tanhf(cell[j]);
            }
        }
        memcpy(cn + n * H, cell, sizeof cell);
    }
}
