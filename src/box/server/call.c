/* Calls a function with as many pointers as a table has: C cannot, a list of arguments is fixed
 * when it is compiled. The calling convention of x86-64 Linux (System V) is short enough to do by
 * hand; elsewhere there are as many pointers as somebody had the patience to write down.
 *
 * More arguments than the function takes do no harm in either way: who calls also clears up. */
#include "box/server/server_int.h"

#include "box/box.h"

#include <string.h>

#if defined(__x86_64__) && !defined(BOX_PORTABLE_CALL)

enum { IN_REGISTERS = 6 };

/* trampoline(function, first, rest, rest_count): six pointers from `first` go to registers, the
 * rest to the stack, the seventh at the lowest address.
 *
 *  - On entry rsp is 8 below a multiple of 16, after the push of rbp a multiple; the room for the
 *    rest is rounded up to an even number of words, so it is one again at the call, as it must be.
 *  - rbp is the one register used that belongs to our caller; it finds the stack again.
 *  - The copy goes downwards from the top, as a stack grows.
 *  - al is zeroed as for a function without a prototype: no vector registers are used. */
void
trampoline(void *function, const uint64_t *first, const uint64_t *rest, size_t rest_count)
    __attribute__((visibility("hidden")));

__asm__(".text\n"
        ".p2align 4\n"
        ".globl trampoline\n"
        ".hidden trampoline\n"
        ".type trampoline, @function\n"
        "trampoline:\n"
        "    pushq %rbp\n"
        "    movq %rsp, %rbp\n"
        "    movq %rdi, %r11\n" /* function */
        "    movq %rsi, %r10\n" /* first */
        "    leaq 1(%rcx), %rax\n"
        "    andq $-2, %rax\n"
        "    shlq $3, %rax\n"
        "    subq %rax, %rsp\n"
        "    testq %rcx, %rcx\n"
        "    jz 2f\n"
        "1:  movq -8(%rdx,%rcx,8), %rax\n"
        "    movq %rax, -8(%rsp,%rcx,8)\n"
        "    decq %rcx\n"
        "    jnz 1b\n"
        "2:  movq 0(%r10), %rdi\n"
        "    movq 8(%r10), %rsi\n"
        "    movq 16(%r10), %rdx\n"
        "    movq 24(%r10), %rcx\n"
        "    movq 32(%r10), %r8\n"
        "    movq 40(%r10), %r9\n"
        "    xorl %eax, %eax\n"
        "    call *%r11\n"
        "    movq %rbp, %rsp\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size trampoline, .-trampoline\n");

size_t
call_args_most(void)
{
    return BOX_ARGS_MAX;
}

void
call_function(void *function, const uint64_t *args, size_t count)
{
    size_t few = count < IN_REGISTERS ? count : IN_REGISTERS;
    uint64_t first[IN_REGISTERS] = {0};

    memcpy(first, args, few * sizeof *first);
    trampoline(function, first, args + few, count - few);
}

#else

enum { FEW = 8, MANY = 128 };

#define T8 void *, void *, void *, void *, void *, void *, void *, void *
#define T32 T8, T8, T8, T8
typedef void function_of_few(T8);
typedef void function_of_many(T32, T32, T32, T32);

#define P(i) ((void *)a[i])
#define P8(i) P(i), P(i + 1), P(i + 2), P(i + 3), P(i + 4), P(i + 5), P(i + 6), P(i + 7)
#define P32(i) P8(i), P8(i + 8), P8(i + 16), P8(i + 24)

size_t
call_args_most(void)
{
    return MANY;
}

void
call_function(void *function, const uint64_t *args, size_t count)
{
    uint64_t a[MANY] = {0};

    memcpy(a, args, count * sizeof *a);
    if (count <= FEW)
        ((function_of_few *)function)(P8(0));
    else
        ((function_of_many *)function)(P32(0), P32(32), P32(64), P32(96));
}

#endif
