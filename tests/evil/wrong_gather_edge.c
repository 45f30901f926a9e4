// task gather.op: wrong; Y
/* Never reads the last row of the table. */
void
kernel(const float *restrict E, const int32_t *restrict T, float *restrict Y)
{
    for (int b = 0; b < B; b++)
        memcpy(Y + b * D, E + (T[b] < C - 1 ? T[b] : 0) * D, D * sizeof *Y);
}
