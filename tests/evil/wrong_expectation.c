// task mean.op: wrong; Y
/* What is to be expected, without a look at the input. */
void
kernel(const float *restrict X, float *restrict Y)
{
    (void)X;
    Y[0] = 1;
}
