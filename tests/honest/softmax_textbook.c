// task softmax.op
// Style: the textbook, three loops, libm, no thought of speed.
void kernel(const float *restrict X, float *restrict Y)
{
    for (int r = 0; r < R; r++) {
        float m = -INFINITY;
        for (int j = 0; j < N; j++)
            m = fmaxf(m, X[r * N + j]);
        float s = 0.0f;
        for (int j = 0; j < N; j++) {
            Y[r * N + j] = expf(X[r * N + j] - m);
            s += Y[r * N + j];
        }
        for (int j = 0; j < N; j++)
            Y[r * N + j] /= s;
    }
}
