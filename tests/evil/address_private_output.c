// task page.op: wrong; Target
/* Lays private memory over its output: only it itself sees what it writes there. */
static long
call(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

void
kernel(const float *restrict Source, float *restrict Target)
{
    call(9, (long)Target & ~4095l, 4096, 3, 0x32, -1, 0);
    for (int i = 0; i < N; i++)
        Target[i] = Source[i] + 1;
}
