// task bilinear.op
// Style: as written: three factors, one sum.
void kernel(const float *restrict X, const float *restrict Z, const float *restrict W, const float *restrict b,
            float *restrict Y)
{
#pragma omp parallel for collapse(2)
    for (int n = 0; n < B; n++)
        for (int k = 0; k < K; k++) {
            float acc = 0;
            for (int i = 0; i < I; i++)
                for (int j = 0; j < J; j++)
                    acc += X[n * I + i] * W[(k * I + i) * J + j] * Z[n * J + j];
            Y[n * K + k] = acc + b[k];
        }
}
