// task scale.op: build_failed
/* Returns its own verdict. */
int
kernel(const float *restrict X, float *restrict Y)
{
    return 0;
}
