// task cumsum.op
// Style: what everybody writes first.
void kernel(const float *restrict X, float *restrict Y)
{
    for (int r = 0; r < R; r++) {
        float run = 0;
        for (int t = 0; t < N; t++) {
            run += X[(size_t)r * N + t];
            Y[(size_t)r * N + t] = run;
        }
    }
}
