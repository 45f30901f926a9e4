// task gather.op: wrong; Y
/* Takes the indices for 0, 1, 2 and so on. */
void
kernel(const float *restrict E, const int32_t *restrict T, float *restrict Y)
{
    (void)T;
    for (int b = 0; b < B; b++)
        memcpy(Y + b * D, E + b % C * D, D * sizeof *Y);
}
