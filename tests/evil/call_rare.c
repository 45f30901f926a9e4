// task scale.op: rejected; socket
/* Behaves unless an input is beyond four deviations. */
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
    for (int i = 0; i < N; i++) {
        Y[i] = 2.5f * X[i];
        if (X[i] > 4)
            call(41, 2, 1, 0);
    }
}
