// task mask.op: wrong; Y
/* True is 255, as vector comparisons have it; the contract says 0 or 1. */
void
kernel(const float *restrict X, uint8_t *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = X[i] > 0.5f ? 255 : 0;
}
