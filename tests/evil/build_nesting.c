// task scale.op: build_failed
/* A quarter of a million parentheses inside one another: the parser recurses. */
// clang-format off
#define L0 (1+
#define R0 )
#define L1 L0 L0
#define R1 R0 R0
#define L2 L1 L1
#define R2 R1 R1
#define L3 L2 L2
#define R3 R2 R2
#define L4 L3 L3
#define R4 R3 R3
#define L5 L4 L4
#define R5 R4 R4
#define L6 L5 L5
#define R6 R5 R5
#define L7 L6 L6
#define R7 R6 R6
#define L8 L7 L7
#define R8 R7 R7
#define L9 L8 L8
#define R9 R8 R8
#define L10 L9 L9
#define R10 R9 R9
#define L11 L10 L10
#define R11 R10 R10
#define L12 L11 L11
#define R12 R11 R11
#define L13 L12 L12
#define R13 R12 R12
#define L14 L13 L13
#define R14 R13 R13
#define L15 L14 L14
#define R15 R14 R14
#define L16 L15 L15
#define R16 R15 R15
#define L17 L16 L16
#define R17 R16 R16
#define L18 L17 L17
#define R18 R17 R17
// clang-format on
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    Y[0] = L18 0 R18;
}
