// task layer_norm.op
// Style: Welford in sixteen lanes, then Chan's rule to merge them.
struct moments {
    float n, mean, m2;
};

static struct moments merge(struct moments a, struct moments b)
{
    const float n = a.n + b.n;
    if (n == 0)
        return a;
    const float d = b.mean - a.mean;
    return (struct moments){n, a.mean + d * (b.n / n), a.m2 + b.m2 + d * d * (a.n * b.n / n)};
}

static struct moments of_lanes(const struct moments *lane, int count)
{
    return count == 1 ? lane[0] : merge(of_lanes(lane, count / 2), of_lanes(lane + count / 2, count - count / 2));
}

void kernel(const float *x, const float *gamma, const float *beta, float *y)
{
#pragma omp parallel for schedule(dynamic)
    for (int r = 0; r < R; ++r) {
        struct moments lane[16] = {{0, 0, 0}};
        for (int j = 0; j < N; ++j) {
            struct moments *m = &lane[j % 16];
            const float delta = x[(size_t)r * N + j] - m->mean;
            m->n += 1;
            m->mean += delta / m->n;
            m->m2 += delta * (x[(size_t)r * N + j] - m->mean);
        }
        const struct moments all = of_lanes(lane, 16);
        const float inv = 1.f / sqrtf(all.m2 / N + 1e-5f);
        for (int j = 0; j < N; ++j)
            y[(size_t)r * N + j] = (x[(size_t)r * N + j] - all.mean) * inv * gamma[j] + beta[j];
    }
}
