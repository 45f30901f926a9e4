// task window.op
// Style: no inputs: constants only.
void kernel(float *restrict Y, int32_t *restrict J)
{
    for (int i = 0; i < N; i++) {
        Y[i] = (float)(0.5 - 0.5 * cos(2 * M_PI * i / (N - 1.0)));
        J[i] = (int32_t)((int64_t)i * i % 97);
    }
}
