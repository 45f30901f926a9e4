// task page.op: crashed; Target
/* One element before an output. */
void
kernel(const float *restrict Source, float *restrict Target)
{
    for (int i = 0; i < N; i++)
        Target[i] = Source[i] + 1;
    ((volatile float *)Target)[-1] = 0;
}
