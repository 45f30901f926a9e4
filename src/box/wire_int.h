/* What the library and hone-box say to one another: one packet a message on a SOCK_SEQPACKET
 * socket, descriptors beside it. Both ends are trusted and built together; the one thing here that
 * a guest can write is `struct box__ctl`. */
#ifndef HONE_BOX_WIRE_INT_H
#define HONE_BOX_WIRE_INT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    BOX__SOCKET = 3, /* the descriptor hone-box is started with */
    BOX__FDS = 200,  /* in one message; the kernel's limit is 253 */
    BOX__PACKET = 128 * 1024,
    BOX__TEXT = 256,
    BOX__FUNCTION = 128,
    BOX__STACKS = 256,
    BOX__ROUNDS = 64,
    BOX__HUGE = 2 << 20,
    BOX__PROGRAM_FDS = 4, /* of a program: 0, 1, 2 and 3 */
};

/* Addresses in a runner. Nothing else lies there: programs and libraries are far above. */
#define BOX__CTL_ADDRESS 0x100000000000ul
#define BOX__TABLE_ADDRESS 0x100000100000ul
#define BOX__REGION_ADDRESS 0x200000000000ul
#define BOX__REGION_LIMIT 0x400000000000ul
#define BOX__WINDOW ((uint64_t)1 << 30) /* the least distance of two regions */

/* The words of the handshake. After `go` is 2 every byte of it may be a lie: the caller then looks
 * at `done` alone, or at the one of `rounds` that it has chosen, and only for being 1. */
struct box__ctl {
    _Alignas(64) uint32_t ready;
    _Alignas(64) uint32_t armed;
    _Alignas(64) uint32_t go; /* 1: wake the threads, 2: call */
    _Alignas(64) uint32_t done;
    _Alignas(64) uint32_t calls;               /* that have returned */
    _Alignas(64) uint32_t rounds[BOX__ROUNDS]; /* set one after the other */
    _Alignas(64) uint32_t stage;               /* where the stub failed: enum box__stage */
    int32_t error;                             /* its errno */
    uint64_t code;                             /* where the object was loaded */
    char text[BOX__TEXT];
    uint64_t stacks[BOX__STACKS]; /* an address near the top of each thread's stack */
    uint64_t code_bytes;          /* of the object, from `code` on */
};
_Static_assert(sizeof(struct box__ctl) <= 4096, "the control words fit one page");

enum box__stage { /* of the runner's stub */
                  BOX__STAGE_NONE,
                  BOX__STAGE_CALL,
                  BOX__STAGE_LIMITS,
                  BOX__STAGE_FILTER,
                  BOX__STAGE_MAP,
                  BOX__STAGE_LOAD, /* the guest's failure, the others are ours */
                  BOX__STAGE_MEMORY,
                  BOX__STAGE_POPULATE,
                  BOX__STAGE_CLOSE,
};

struct box__region {
    uint32_t fd; /* index among the descriptors of the message */
    uint32_t writable;
    uint64_t address, offset, span;
};

/* The rest of the control file, from its second page on; the runner sees it read-only. */
struct box__table {
    uint64_t bytes; /* of all of it */
    uint32_t region_count, call_count, arg_count, threads;
    uint32_t round; /* calls of one; 0: rounds are not told */
    uint32_t spin, no_clock, warm;
    uint64_t address_space, memory, stack, cpu_seconds, real_time_us;
    char function[BOX__FUNCTION];
    /* struct box__region regions[region_count]; uint64_t args[call_count * arg_count]; */
};

enum box__verb {
    BOX__PROBE = 1, /* -> box__probed */
    BOX__COMPILE,   /* -> box__compiled, object and diagnostics */
    BOX__MEMORY,    /* -> box__reply, one descriptor to write and one to read */
    BOX__SERVE,     /* -> box__reply; then box__reply {fds: object, control file, memories ...} */
    BOX__PROGRAM,   /* with BOX__PROGRAM_FDS descriptors -> box__reply; at its end box__ended */
};

enum box__kind { BOX__READY = 1, BOX__JOB, BOX__STARTED, BOX__ENDED, BOX__FAILED };

/* The first message to hone-box. */
struct box__order {
    uint32_t verb;
    uint32_t without;   /* features not to use */
    uint32_t use_nproc; /* the limit on processes counts this jail alone */
    uint32_t argc;      /* compile, program: texts that follow the struct, each with its zero */
    uint32_t env_count, folder_count; /* program: after them, its environment, folders to read */
    uint32_t file_count; /* compile: after them, the names of the files whose descriptors follow */
    uint32_t has_cache;  /* compile: after them, the folder of the precompiled prelude */
    uint64_t bytes;      /* memory: its size; program: what its files may take */
    uint64_t wall_ms, cpu_seconds, address_space, output, diagnostics;
    uint64_t text_bytes;
};

struct box__reply {
    uint32_t kind;
    uint32_t features; /* what the jail was built with */
    int32_t error;
    char text[BOX__TEXT];
};

struct box__probed {
    uint32_t kind, features;
    int32_t landlock_abi, nproc_counts;
};

struct box__ended {
    uint32_t kind;
    int32_t status; /* as wait4() gives it */
    int32_t signal, code, syscall;
    uint32_t arch;
    uint64_t address, rip;
    uint64_t minor_faults, major_faults, involuntary;
    uint64_t user_us, system_us;
};

struct box__compiled {
    uint32_t kind;
    int32_t error; /* ours, with `text` */
    char text[BOX__TEXT];
    int32_t status; /* of the compiler */
    uint32_t timed_out, cached;
    uint64_t cpu_us;
    uint64_t object_bytes, diagnostics_bytes, diagnostics_dropped;
    uint32_t has_object, object_too_large;
};

/* Both return the number of bytes, 0 at the end of the connection, or -1 with errno. */
ssize_t
box__send(int socket, const void *bytes, size_t count, const int *fds, size_t fd_count);

/* Descriptors beyond `most` are closed. */
ssize_t
box__receive(int socket, void *bytes, size_t room, int *fds, size_t most, size_t *fd_count);

int
box__close_all(const int *fds, size_t count);

long
box__futex_wait(uint32_t *word, uint32_t value, long microseconds); /* < 0: for ever */
long
box__futex_wake(uint32_t *word);

#endif
