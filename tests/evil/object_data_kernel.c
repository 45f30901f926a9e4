// task scale.op: rejected; kernel
/* The exported name belongs to data, not to a function. */
__asm__(".data\n"
        ".globl kernel\n"
        ".type kernel, @object\n"
        ".size kernel, 8\n"
        "kernel: .quad 0\n"
        ".text");
