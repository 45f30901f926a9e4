// task variance.op
// Style: shifted by the column's first value, sum and sum of squares in one pass, in double.
void kernel(const float *x, float *v, float *d)
{
#pragma omp parallel for schedule(static, 5)
    for (int c = 0; c < C; c++) {
        double s = 0, q = 0;
        const double k = x[c];
        for (int n = 0; n < N; n++) {
            const double t = x[n * C + c] - k;
            s += t;
            q += t * t;
        }
        const double var = fmax(0.0, (q - s * s / N) / (N - 1));
        v[c] = (float)var;
        d[c] = (float)sqrt(var);
    }
}
