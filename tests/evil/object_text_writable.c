// task scale.op: rejected
/* A section that is written and executed. */
__attribute__((section(".evil,\"awx\",@progbits#"))) static void
right(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}

void
kernel(const float *restrict X, float *restrict Y)
{
    right(X, Y);
}
