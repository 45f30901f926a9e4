// task f64_dot.op
// Style: eight lanes of double, tail apart.
void kernel(const double *restrict X, const double *restrict Z, double *restrict Y)
{
    double lane[8] = {0}, s = 0;
    int i = 0;
    for (; i + 8 <= N; i += 8)
        for (int l = 0; l < 8; l++)
            lane[l] += X[i + l] * Z[i + l];
    for (; i < N; i++)
        s += X[i] * Z[i];
    for (int l = 0; l < 8; l++)
        s += lane[l];
    *Y = s;
}
