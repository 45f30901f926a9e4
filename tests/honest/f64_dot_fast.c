// task f64_dot.op
//! flags -O3 -ffast-math
// Style: fast-math lets gcc vectorise the sum.
void kernel(const double *restrict X, const double *restrict Z, double *restrict Y)
{
    double s = 0;
    for (int i = 0; i < N; i++)
        s += X[i] * Z[i];
    Y[0] = s;
}
