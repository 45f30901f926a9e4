// task page.op: crashed; Target
/* Looks for the next tensor a megabyte behind the output. */
void
kernel(const float *restrict Source, float *restrict Target)
{
    for (int i = 0; i < N; i++)
        Target[i] = Source[i] + 1;
    ((volatile float *)Target)[262144] = 0;
}
