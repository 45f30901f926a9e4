// task scale.op: crashed
/* Another thread ends the process. */
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
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1)
        call(231, 0, 0, 0);
}
