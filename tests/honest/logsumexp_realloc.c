// task logsumexp.op
// Style: scratch that grows by realloc, posix_memalign for another; pairwise halving in place.
void kernel(const float *restrict X, float *restrict Y)
{
    float *e = NULL;
    void *rows = NULL;
    size_t room = 0;
    while (room < N) {
        room = room ? room * 2 : 16;
        float *more = realloc(e, room * sizeof *e);
        if (!more)
            abort();
        e = more;
    }
    if (posix_memalign(&rows, 64, R * sizeof(float)) != 0)
        abort();
    for (int r = 0; r < R; r++) {
        const float *x = X + (size_t)r * N;
        float m = x[0];
        for (int j = 1; j < N; j++)
            m = fmaxf(m, x[j]);
        for (int j = 0; j < N; j++)
            e[j] = expf(x[j] - m);
        for (int n = N; n > 1; n = (n + 1) / 2)
            for (int j = 0; j < n / 2; j++)
                e[j] += e[n - 1 - j];
        ((float *)rows)[r] = logf(e[0]) + m;
    }
    memcpy(Y, rows, R * sizeof *Y);
    free(rows);
    free(e);
}
