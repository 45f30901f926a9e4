// task scale.op: crashed
/* Makes the table of calls writable, which the judge reads to find the tensor that a fault belongs
 * to, says there that it has four billion regions, and faults near the first: the judge itself died
 * of SIGBUS. */
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
    uint32_t *table = (uint32_t *)(uintptr_t)0x100000100000;

    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    if (call(10, (long)table, 4096, 3) == 0)
        table[2] = 0xffffffff;
    *(volatile char *)(uintptr_t)0x200000000000 = 1;
}
