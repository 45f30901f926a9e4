// task page.op: crashed; Target
/* One element behind an output that ends where its page ends. */
void
kernel(const float *restrict Source, float *restrict Target)
{
    for (int i = 0; i < N; i++)
        Target[i] = Source[i] + 1;
    ((volatile float *)Target)[N] = 0;
}
