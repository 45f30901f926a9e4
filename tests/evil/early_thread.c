// task scale.op: wrong; Y
/* Leaves the work to a thread of its own and returns; the thread takes its time. */
static const float *x;
static float *y;

static void
work(void)
{
    for (volatile int i = 0; i < 400000000;)
        i = i + 1;
    for (int i = 0; i < N; i++)
        y[i] = 2.5f * x[i];
}

static char stack[65536] __attribute__((aligned(64)));

static void
start(void (*work)(void))
{
    long result;

    __asm__ volatile("syscall\n"
                     "test %%rax, %%rax\n"
                     "jnz 1f\n"
                     "xor %%ebp, %%ebp\n"
                     "call *%%rbx\n"
                     "mov $60, %%eax\n"
                     "syscall\n"
                     "1:"
                     : "=a"(result)
                     : "a"(56), "D"(0x50f00), "S"(stack + sizeof stack), "d"(0), "b"(work)
                     : "rcx", "r8", "r9", "r10", "r11", "memory");
}

void
kernel(const float *restrict X, float *restrict Y)
{
    x = X;
    y = Y;
    start(work);
}
