// task cumsum.op
// Style: a doacross loop: chunks of a row wait for the chunk before them (ordered depend).
enum { CHUNK = 128, CHUNKS = (N + CHUNK - 1) / CHUNK };
void kernel(const float *restrict X, float *restrict Y)
{
    for (int r = 0; r < R; r++) {
        const float *x = X + (size_t)r * N;
        float *y = Y + (size_t)r * N;
#pragma omp parallel for ordered(1) schedule(static, 1)
        for (int c = 0; c < CHUNKS; c++) {
            const int from = c * CHUNK, to = from + CHUNK < N ? from + CHUNK : N;
            float local[CHUNK], run = 0;
            for (int t = from; t < to; t++)
                local[t - from] = run += x[t];
#pragma omp ordered depend(sink : c - 1)
            const float carry = c ? y[from - 1] : 0.0f;
            for (int t = from; t < to; t++)
                y[t] = carry + local[t - from];
#pragma omp ordered depend(source)
        }
    }
}
