// task scale.op: rejected; mprotect
/* Writes code into its data and has it made executable. */
static char code[4096] __attribute__((aligned(4096)));

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
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    code[0] = (char)0xc3;
    if (call(10, (long)code, sizeof code, 5) == 0)
        ((void (*)(void))code)();
}
