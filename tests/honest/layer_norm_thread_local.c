// task layer_norm.op
// Style: centred row kept in a static _Thread_local buffer; statistics in a struct; static helpers.
static _Thread_local float centred[N];

struct moments {
    float mean, rstd;
};

static struct moments centre(const float *x)
{
    struct moments m = {0, 0};
    for (int j = 0; j < N; j++)
        m.mean += x[j];
    m.mean *= 1.0f / N;
    float q = 0;
    for (int j = 0; j < N; j++) {
        centred[j] = x[j] - m.mean;
        q += centred[j] * centred[j];
    }
    m.rstd = powf(q / N + 1e-5f, -0.5f);
    return m;
}

void kernel(const float *restrict in, const float *restrict g, const float *restrict b, float *restrict out)
{
#pragma omp parallel
    {
        const int t = omp_get_thread_num(), nt = omp_get_num_threads();
        for (int r = t; r < R; r += nt) {
            const struct moments m = centre(in + (size_t)r * N);
            for (int j = 0; j < N; j++)
                out[(size_t)r * N + j] = centred[j] * m.rstd * g[j] + b[j];
        }
    }
}
