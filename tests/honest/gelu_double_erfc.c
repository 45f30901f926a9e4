// task gelu.op
// Style: 1 + erf(x) as erfc(-x) in double; a function pointer chooses the side.
static double positive(double x) { return 2.0 - erfc(x); }
static double negative(double x) { return erfc(-x); }
void kernel(const float *restrict X, float *restrict Y)
{
    static double (*const side[2])(double) = {positive, negative};
#pragma omp parallel for schedule(static, 64)
    for (int i = 0; i < N; i++) {
        const double x = X[i];
        Y[i] = (float)(0.5 * x * side[x < 0](x * 0.70710678118654752440));
    }
}
