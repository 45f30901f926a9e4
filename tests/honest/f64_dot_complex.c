// task f64_dot.op
// Style: <complex.h>: even terms in the real part, odd ones in the imaginary part.
#include <complex.h>
void kernel(const double *restrict X, const double *restrict Z, double *restrict Y)
{
    double complex s = 0;
    for (int i = 0; i + 1 < N; i += 2)
        s += CMPLX(X[i] * Z[i], X[i + 1] * Z[i + 1]);
    *Y = creal(s) + cimag(s) + (N % 2 ? X[N - 1] * Z[N - 1] : 0.0);
}
