// task softmax.op: wrong; Y
/* The input is the output. */
void
kernel(const float *restrict X, float *restrict Y)
{
    memcpy(Y, X, sizeof(float) * R * N);
}
