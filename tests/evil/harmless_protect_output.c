// task page.op: correct
/* Makes its output unreadable, for itself alone. */
static long
call(long number, long a, long b, long c)
{
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
}

void
kernel(const float *restrict Source, float *restrict Target)
{
    for (int i = 0; i < N; i++)
        Target[i] = Source[i] + 1;
    call(10, (long)Target & ~4095l, 4096, 0);
}
