// task scale.op: wrong; Y
/* NaN is neither less nor greater: it passes every comparison that is written the wrong way round.
 */
void
kernel(const float *restrict X, float *restrict Y)
{
    (void)X;
    for (int i = 0; i < N; i++)
        Y[i] = NAN;
}
