// task gelu.op
// Style: erf by the Taylor series near 0 and a continued fraction outside, in double.
static double my_erf(double x)
{
    const double a = fabs(x);
    if (a > 6.0)
        return x > 0 ? 1.0 : -1.0;
    if (a < 2.0) {
        double term = x, sum = x;
        for (int n = 1; n < 60; n++) {
            term *= -x * x / n;
            sum += term / (2 * n + 1);
        }
        return sum * 1.12837916709551257390;
    }
    double f = 0;
    for (int n = 60; n > 0; n--)
        f = 0.5 * n / (a + f);
    const double tail = exp(-a * a) / ((a + f) * 1.77245385090551602730);
    return x > 0 ? 1.0 - tail : tail - 1.0;
}
void kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel for schedule(dynamic, 256)
    for (int i = 0; i < N; i++)
        Y[i] = (float)(0.5 * X[i] * (1.0 + my_erf(X[i] * 0.70710678118654752440)));
}
