// task scale.op: build_failed
/* Macros that double what they are given, forty deep: arguments are expanded before they are used.
 */
#define A(x) x x x x
#define B(x) A(A(A(A(A(x)))))
#define C(x) B(B(B(B(x))))

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    Y[0] = 0 C(+1);
}
