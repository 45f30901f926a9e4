// task scale.op: wrong; Y
/* Another thread says that all is done while the rest still work. */
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

static void
signal_done(void)
{
    volatile uint32_t *done = (volatile uint32_t *)(uintptr_t)0x1000000000c0;

    *done = 1;
    call(202, (long)done, 1, 1);
}

void
kernel(const float *restrict X, float *restrict Y)
{
#pragma omp parallel
    {
        if (omp_get_thread_num() == omp_get_num_threads() - 1)
            signal_done();
#pragma omp for
        for (int i = 0; i < N; i++) {
            for (volatile int pause = 0; pause < 1000000;)
                pause = pause + 1;
            Y[i] = 2.5f * X[i];
        }
    }
}
