// task scale.op: rejected; socket
/* The instruction stands in the middle of another one: a search for `syscall` in the listing finds
 * nothing. */
void
kernel(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
    __asm__ volatile("mov $41, %%eax\n"
                     "mov $2, %%edi\n"
                     "mov $1, %%esi\n"
                     "xor %%edx, %%edx\n"
                     "jmp 1f + 2\n"
                     "1: .byte 0x48, 0xb8, 0x0f, 0x05, 0xeb, 0x04, 0, 0, 0, 0\n" ::
                         : "rax", "rdi", "rsi", "rdx", "rcx", "r11", "memory");
}
