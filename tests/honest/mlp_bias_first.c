// task mlp.op
//! flags -O3 -fassociative-math -fno-signed-zeros -fno-trapping-math
// Style: a row at a time, each hidden value added to the outputs at once; the bias first, tanh as a logistic.
void kernel(const float *x, const float *w1, const float *b1, const float *w2, const float *b2, float *y)
{
#pragma omp parallel for
    for (int m = 0; m < M; m++) {
        float out[D];
        for (int d = 0; d < D; d++)
            out[d] = b2[d] + x[m * D + d];
        for (int f = 0; f < F; f++) {
            float s = b1[f];
            for (int d = 0; d < D; d++)
                s += x[m * D + d] * w1[f * D + d];
            const float u = 1.5957691216f * (s + 0.044715f * s * s * s);
            const float g = s / (1.0f + expf(-u)); /* 0.5 * (1 + tanh(u / 2)) */
            for (int d = 0; d < D; d++)
                out[d] += g * w2[d * F + f];
        }
        memcpy(y + (size_t)m * D, out, sizeof out);
    }
}
