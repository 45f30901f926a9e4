// task page.op: crashed
/* Runs its output. */
void
kernel(const float *restrict Source, float *restrict Target)
{
    for (int i = 0; i < N; i++)
        Target[i] = Source[i] + 1;
    *(volatile char *)Target = (char)0xc3;
    ((void (*)(void))Target)();
}
