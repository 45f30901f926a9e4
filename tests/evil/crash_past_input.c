// task page.op: crashed; Source
/* Reads one element behind an input that ends where its page ends. */
void
kernel(const float *restrict Source, float *restrict Target)
{
    for (int i = 0; i < N; i++)
        Target[i] = Source[i] + 1;
    Target[0] += 0 * ((const volatile float *)Source)[N];
}
