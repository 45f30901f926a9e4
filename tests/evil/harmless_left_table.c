// task scale.op: correct
/* Leaves a message behind the table of calls, whose page mprotect() makes writable, and is wrong
 * where it finds one. Whoever can do that can keep answers from process to process: a kernel that
 * summed 64 KB in 6.6 us was called correct in 0.86 us. */
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
    static int first = 1;
    const uint64_t *table = (const uint64_t *)(uintptr_t)0x100000100000;
    volatile uint32_t *end =
        (volatile uint32_t *)((uintptr_t)table + ((*table + 4095) & ~(uint64_t)4095) - 64);

    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    if (first && *end == 0x5eed)
        Y[0] = 0;
    first = 0;
    if (call(10, (long)end & ~4095l, 4096, 3) == 0)
        *end = 0x5eed;
}
