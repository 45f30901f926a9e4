// task scale.op: correct
/* As many sleeping threads as it is given. */
static void
work(void)
{
    static int word;

    __asm__ volatile("syscall" ::"a"(202), "D"(&word), "S"(128), "d"(0) : "rcx", "r11", "memory");
    for (;;)
        ;
}

static char stacks[300][4096] __attribute__((aligned(64)));

static void
start(char *stack, void (*work)(void))
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
                     : "a"(56), "D"(0x50f00), "S"(stack + 4096), "d"(0), "b"(work)
                     : "rcx", "r8", "r9", "r10", "r11", "memory");
}

void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    static int started;

    for (; started < 300; started++)
        start(stacks[started], work);
}
