// task scale.op: correct
/* Megabytes of warnings, then a right kernel. */
// clang-format off
#define S0 "a warning that nobody reads and that has to be kept somewhere all the same, "
#define S1 S0 S0
#define S2 S1 S1
#define S3 S2 S2
#define S4 S3 S3
#define S5 S4 S4
#define S6 S5 S5
#define S7 S6 S6
#define S8 S7 S7
#define S9 S8 S8
#define S10 S9 S9
#define S11 S10 S10
#define S12 S11 S11
#define MESSAGE _Pragma("GCC warning \"x\"")
#define W0 MESSAGE MESSAGE
#define W1 W0 W0
#define W2 W1 W1
#define W3 W2 W2
#define W4 W3 W3
#define W5 W4 W4
#define W6 W5 W5
#define W7 W6 W6
#define W8 W7 W7
#define W9 W8 W8
#define W10 W9 W9
#define W11 W10 W10
#define W12 W11 W11
W12
    // clang-format on
    static const char text[] = S12;

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    Y[0] += 0 * text[0];
}
