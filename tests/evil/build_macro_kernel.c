// task scale.op: build_failed
/* The word is there, but a macro makes another one of it, with other parameters. */
#define kernel(a, b) kernel(void)
void
kernel(const float *restrict X, float *restrict Y)
{
}
