// task scale.op: wrong; Y
/* Copies what the outputs were filled with from one element to the others. */
void
kernel(const float *restrict X, float *restrict Y)
{
    (void)X;
    for (int i = 1; i < N; i++)
        memcpy(Y + i, Y, sizeof *Y);
}
