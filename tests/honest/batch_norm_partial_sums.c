// task batch_norm.op
// Style: partial sums of planes in parallel (double), then one thread finishes, then a flat loop.
static double plane_sum[N * C], plane_square[N * C];
static float scale[C];
void kernel(const float *x, const float *g, const float *b, float *y, float *mean, float *var)
{
    enum { P = H * W };
#pragma omp parallel
    {
#pragma omp for schedule(guided)
        for (int p = 0; p < N * C; p++) {
            double s = 0, q = 0;
            for (int e = 0; e < P; e++) {
                s += x[p * P + e];
                q += (double)x[p * P + e] * x[p * P + e];
            }
            plane_sum[p] = s;
            plane_square[p] = q;
        }
#pragma omp single
        for (int c = 0; c < C; c++) {
            double s = 0, q = 0;
            for (int n = 0; n < N; n++)
                s += plane_sum[n * C + c], q += plane_square[n * C + c];
            s /= N * P;
            q = q / (N * P) - s * s;
            mean[c] = (float)s;
            var[c] = (float)(q > 0 ? q : 0);
            scale[c] = (float)(1.0 / sqrt(var[c] + 1e-5));
        }
#pragma omp for
        for (int i = 0; i < N * C * P; i++) {
            const int c = i / P % C;
            y[i] = (x[i] - mean[c]) * scale[c] * g[c] + b[c];
        }
    }
}
