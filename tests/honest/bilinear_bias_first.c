// task bilinear.op
// Style: the sum over j first, x factored out; bias as the start of the sum.
void kernel(const float *x, const float *z, const float *w, const float *bias, float *out)
{
    for (int n = 0; n < B; n++) {
#pragma omp parallel for schedule(static, 3)
        for (int k = 0; k < K; k++) {
            float acc = bias[k];
            for (int i = 0; i < I; i++) {
                float inner = 0;
                for (int j = J - 1; j >= 0; j--)
                    inner += w[(k * I + i) * J + j] * z[n * J + j];
                acc += x[n * I + i] * inner;
            }
            out[n * K + k] = acc;
        }
    }
}
