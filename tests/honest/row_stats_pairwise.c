// task row_stats.op
// Style: recursion: pairwise sums, and a maximum that carries its index.
struct best {
    float v;
    int at;
};
static float sum(const float *x, int n)
{
    if (n <= 8) {
        float s = 0;
        while (n--)
            s += *x++;
        return s;
    }
    return sum(x, n / 2) + sum(x + n / 2, n - n / 2);
}
static struct best top(const float *x, int from, int to)
{
    if (to - from == 1)
        return (struct best){x[from], from};
    const int mid = from + (to - from) / 2;
    const struct best a = top(x, from, mid), b = top(x, mid, to);
    return b.v > a.v ? b : a;
}
void kernel(const float *x, float *s, float *u, float *m, int *a)
{
#pragma omp parallel for schedule(dynamic, 8)
    for (int r = 0; r < R; r++) {
        const float *row = x + (size_t)r * N;
        const struct best b = top(row, 0, N);
        s[r] = sum(row, N);
        u[r] = s[r] * (1.0f / N);
        m[r] = b.v;
        a[r] = b.at;
    }
}
