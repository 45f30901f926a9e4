// task softmax.op
//! flags -O3 -ffast-math -fno-finite-math-only
// Style: plain loops, the vectorised expf of libmvec through -ffast-math. Infinities stay honest.
void kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel for
    for (long r = 0; r < R; r++) {
        const float *x = X + r * N;
        float *y = Y + r * N;
        float m = x[0];
        for (int j = 1; j < N; j++)
            m = x[j] > m ? x[j] : m;
        float s = 0;
        for (int j = 0; j < N; j++) {
            float e = expf(x[j] - m);
            y[j] = e;
            s += e;
        }
        for (int j = 0; j < N; j++)
            y[j] /= s;
    }
}
