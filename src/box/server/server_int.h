/* hone-box: the parts of the program that stands between the library and the guest. */
#ifndef HONE_BOX_SERVER_INT_H
#define HONE_BOX_SERVER_INT_H

#include "box/wire_int.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One jail: what it should have, and what it got. */
struct jail {
    uint32_t without;  /* bits of enum box_feature that must not be used */
    bool tools;        /* lay the toolchain into its root, read-only */
    const char *cache; /* a folder to lay at /cache, read-only; or NULL */
    char *const
        *folders;   /* folders to lay where they are outside, read-only; ended by NULL, or NULL */
    uint64_t bytes; /* that its files may take */
    uint32_t features;    /* out: what it was built with */
    char text[BOX__TEXT]; /* out: what failed */
};

/* Writes a file of /proc, such as a map of user ids, in one go. 0, or -1 with errno. */
int
jail_write(const char *path, const char *text);

/* What the processor is: libraries of numbers choose their kernels by it, and PyTorch refuses half
 * precision where it cannot be read. Programs in a jail may. */
#define JAIL_PROCESSOR \
    "/proc/cpuinfo", "/sys/devices/system/cpu/possible", "/sys/devices/system/cpu/present"

/* Puts the calling process into the jail: on success the caller goes on inside, as process 1 of a
 * pid namespace where there is one, while the process that called waits outside and ends with it.
 * The working folder is the root of the jail. 0, or -1 with errno and jail->text. */
int
jail_enter(struct jail *jail);

/* Kills everything that was started in the jail but the caller, and reaps it. `leader`: a child
 * that leads a group of its own. */
void
jail_kill(const struct jail *jail, int leader);

/* Removes a folder of ours and what is in it, for jails without a root of their own. */
void
jail_remove(const char *folder);

/* Sets a limit of setrlimit(), soft and hard. 0, or -1 with errno. */
int
jail_limit(int resource, uint64_t value, uint64_t hard);

/* No capability, no new privilege, not even by exec. Dies with its parent. */
int
jail_drop(void);

/* Landlock. All three return 0 or -1 with errno. */
int
landlock_abi(void); /* 0: none */
int
landlock_deny_all(void);
/* Reading below `readable`, everything below `writable`; lists end with NULL. */
int
landlock_allow(const char *const *readable, const char *const *writable);

/* The verbs. Each returns the exit code of the program. */
int
serve(const struct box__order *order);
int
compile(const struct box__order *order, char *texts, const int *fds, size_t fd_count);
int
memory(const struct box__order *order);
int
probe(const struct box__order *order);
int
program(const struct box__order *order, char *texts, const int *fds, size_t fd_count);

/* The guest's process: never returns. `fds` are those of the job. */
struct runner {
    const int *fds;
    size_t fd_count;
    const char *object; /* its path, or NULL: descriptor fds[0] */
    bool use_nproc, landlock, filter;
};

_Noreturn void
runner_main(const struct runner *runner);

/* The object of a job. What failed is told by the stage and a text, with errno where it is ours. */
struct loading {
    const char *path, *name; /* the file, and the function in it */
    int fd;                  /* the same file */
    uint64_t memory;         /* that it may take */
    void *function;          /* out */
    char text[BOX__TEXT];    /* out: what failed */
};

enum box__stage
load_object(struct loading *loading);

/* function(args[0], ..., args[count - 1]); `count` is at most call_args_most(). */
void
call_function(void *function, const uint64_t *args, size_t count);
size_t
call_args_most(void);

/* Tells the library what failed, and returns 1. */
int
reply_failed(int error, const char *text);

#endif
