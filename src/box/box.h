/* Runs untrusted text: a compile jail, an audit of what it made, and a run jail with a fork server.
 * It knows nothing of kernels: it runs a function with limits and says how that ended.
 * doc/box.md has the theory of operation: what is promised and what is not.
 *
 * Two failures never mix. *Ours* (no memory, no process, a jail that cannot be built) is a negative
 * status with a message in `diags`. *The guest's* (does not compile, crashes, takes too long) is
 * data: the status is STATUS_OK and the result says how it ended.
 *
 * Ownership: a box, a server and a memory are created and destroyed by their owner, the box last.
 * A box may be used by several threads at once; a server belongs to one thread at a time. Results
 * live in the arena that the caller gave.
 *
 * All privileged work is done by a small separate program, hone-box. It is looked for in $HONE_BOX,
 * beside the running program, in ../libexec/hone/ of it, and in the usual libexec folders. */
#ifndef HONE_BOX_BOX_H
#define HONE_BOX_BOX_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 1. What this machine can close. */

/* name, what stays open without it */
#define BOX_FEATURES(X)                                                                        \
    X(USERNS, "user namespace", "the guest runs under a user id of this machine")              \
    X(MOUNTNS, "mount namespace", "the guest is not given a file system of its own")           \
    X(PIDNS, "pid namespace", "the guest shares the machine's process numbers")                \
    X(NETNS, "network namespace", "the network is closed by the system call filter alone")     \
    X(IPCNS, "ipc namespace", "System V memory is closed by the system call filter alone")     \
    X(UTSNS, "uts namespace", "the guest could learn the machine's name")                      \
    X(SECCOMP, "seccomp filter", "the guest may call every system call")                       \
    X(LANDLOCK, "Landlock", "files are closed by the other locks alone")                       \
    X(PIDFD, "pidfd", "the guest cannot be killed without a race")                             \
    X(PTRACE, "ptrace", "a crash is reported without its address")                             \
    X(HUGE, "tmpfs with huge pages", "buffers lie on 4 KiB pages: timings are not comparable") \
    X(CGROUP, "memory control group", "memory is limited for each process, not for all together")

enum box_feature {
#define BOX_FEATURE_ENUM(id, name, open) BOX_##id,
    BOX_FEATURES(BOX_FEATURE_ENUM)
#undef BOX_FEATURE_ENUM
        BOX_FEATURE_COUNT
};

enum box_level {
    BOX_NONE,    /* no system call filter: nothing is run unless `unsafe` is set */
    BOX_PARTIAL, /* filter, limits, Landlock where there is one; no file system of its own */
    BOX_FULL,    /* an empty root, no network, processes of its own, and all of the above */
};

struct box_machine {
    enum box_level level;
    uint32_t features;   /* bit 1 << BOX_USERNS ... is set where the machine has it */
    int landlock_abi;    /* 0: none */
    bool root;           /* started by root: the guest gets a user id that nobody has */
    const char *program; /* the hone-box that is used */
    const char *missing[BOX_FEATURE_COUNT]; /* "no user namespace: the guest runs ..." or NULL */
};

const char *
box_feature_name(enum box_feature feature);
const char *
box_level_name(enum box_level level); /* "full", "partial", "none" */

struct box_options {
    bool unsafe;      /* run guests even at BOX_NONE */
    uint32_t without; /* features not to use although the machine has them: for tests */
};

struct box;

/* Finds hone-box and probes the machine (some milliseconds). `options` may be NULL. */
enum status
box_open(const struct box_options *options, struct box **box, struct diags *diags);

void
box_close(struct box *box); /* NULL is allowed */

const struct box_machine *
box_machine(const struct box *box);

/* 2. The compile jail. */

struct box_text {
    const char *name; /* a plain file name */
    const char *text;
    size_t length;
};

/* A zero limit stands for the default in brackets. */
struct box_compile_limits {
    double wall_seconds; /* [20] */
    double cpu_seconds;  /* [10] of each process of the compiler */
    size_t memory;       /* [2 GB] address space of each process */
    size_t output;       /* [64 MB] of each file, and of the object */
    size_t diagnostics;  /* [64 KB] kept; the rest is counted */
};

struct box_compile_request {
    const char *compiler;           /* "gcc": looked up in PATH; must lie below /usr */
    const char *const *flags;       /* NULL-terminated; each must pass box_flag_allowed() */
    struct box_text source;         /* compiled as C under this name */
    const char *prelude;            /* trusted text before the source, kept precompiled; or NULL */
    const char *defines;            /* trusted text between prelude and source; or NULL */
    const struct box_text *headers; /* more files beside the source, to be included by name */
    size_t header_count;
    const char *const *exports; /* NULL-terminated: the symbols the object may show */
    struct box_compile_limits limits;
};

enum box_build {
    BOX_BUILT,
    BOX_BUILD_REFUSED, /* the compiler said no: see the diagnostics */
    BOX_BUILD_CRASHED, /* the compiler itself broke down */
    BOX_BUILD_TIMEOUT, /* wall or CPU time */
    BOX_BUILD_MEMORY,
    BOX_BUILD_OUTPUT, /* a file grew beyond its limit */
};

struct box_compile_result {
    enum box_build build;
    const char *reason;      /* one line; "" if built */
    int object;              /* sealed memory file, owned by the caller; -1 if not built */
    size_t object_bytes;     /* its length */
    const char *diagnostics; /* what the compiler wrote, cut at the limit, zero-terminated */
    size_t diagnostics_length;
    size_t diagnostics_dropped; /* bytes beyond the limit */
    bool precompiled;           /* the prelude came from the cache */
    double seconds;
};

/* Whether a compiler option may be given: optimisation, warnings, macros, -m, -std; nothing that
 * names a file, loads code or reaches the linker. */
bool
box_flag_allowed(const char *flag);

/* Makes a shared object of one C file. The precompiled prelude is kept in the cache folder. */
enum status
box_compile(const struct box *box, struct arena *arena, const struct box_compile_request *request,
            struct box_compile_result *result, struct diags *diags);

/* A program of this machine that looks at what the guest made: objdump, addr2line. It reads hostile
 * bytes, so it runs where the compiler runs. */
struct box_look {
    const char *tool;        /* looked up in PATH; must lie below /usr */
    const char *const *args; /* NULL-terminated; trusted; they name the file as file.name */
    struct box_text file;
    double seconds; /* of wall and CPU time; 0: 5 */
    size_t output;  /* bytes kept; 0: 64 KB */
};

/* What it wrote, zero-terminated and cut at the limit; NULL if it is not installed or cannot be
 * started. Whether it liked what it read is for the caller to see from that. */
const char *
box_look(const struct box *box, struct arena *arena, const struct box_look *look);

/* The line of the file `name`, as it was compiled, that the instruction at this offset of an object
 * comes from; 0 if that cannot be told. Needs -g1 and addr2line. */
uint32_t
box_source_line(const struct box *box, int object, size_t bytes, uint64_t offset, const char *name);

/* 3. The audit: what an object may contain. A name that ends in '*' stands for all that begin so.
 */

struct box_audit_rules {
    const char *const *undefined; /* symbols it may take from elsewhere; NULL-terminated, as all */
    const char *const *needed;    /* libraries it may name */
    const char *const *exports;   /* functions it must show, and nothing else */
};

struct box_audit {
    char reason[200];        /* "" if it passed; otherwise what is wrong, with the symbol's name */
    uint64_t loaded_bytes;   /* memory that its segments take */
    uint64_t writable_bytes; /* of which writable: static data and scratch */
};

/* true if the object passes. Never reads beyond the bytes, whatever they are. */
bool
box_audit(const void *bytes, size_t count, const struct box_audit_rules *rules,
          struct box_audit *audit);

/* 4. Memory that caller and guest share. */

enum box_pages { BOX_PAGES_SMALL, BOX_PAGES_HUGE };

struct box_memory;

/* Zeroed, allocated at once, mapped in the caller; gone when the last process that has it ends. */
enum status
box_memory_create(const struct box *box, size_t bytes, struct box_memory **memory,
                  struct diags *diags);

void
box_memory_destroy(struct box_memory *memory); /* NULL is allowed */

void *
box_memory_base(const struct box_memory *memory);

#define BOX_PAGE ((size_t)4096)

/* Where slot number `index` should begin in its memory, at or after `at`: successive buffers start
 * 85 pages apart modulo 2 MB, lest they compete for the same lines of the cache. */
size_t
box_stagger(size_t at, size_t index);

/* 5. A program in a jail: an interpreter that runs somebody's text and is spoken to. It sees the
 * system's programs and libraries, the folders named, and an empty /tmp; no network, no other
 * process. */

struct box_program_request {
    const char *const *argv;        /* NULL-terminated; argv[0] is a path */
    const char *const *environment; /* NULL-terminated */
    const char *const *folders;     /* NULL-terminated absolute paths it may read, at most 8 */
    int fds[4];                     /* its descriptors 0, 1, 2 and 3; they stay the caller's */
    size_t memory;                  /* bytes that each of its processes may have for data */
    size_t files;                   /* bytes that its files may take in all */
    double cpu_seconds;             /* of each of its processes */
};

struct box_program;

/* STATUS_MACHINE also where the machine has no jail at all. */
enum status
box_program_start(const struct box *box, struct arena *arena,
                  const struct box_program_request *request, struct box_program **program,
                  struct diags *diags);

/* Kills it and all that it started; NULL is allowed. `signal`, which may be NULL: what had ended it
 * before, 0 if nothing had. */
void
box_program_end(struct box_program *program, int *signal);

/* 6. The run jail. */

#define BOX_REALTIME_SECONDS 1.0 /* a guest on all CPUs may stop everything else for so long */

enum { BOX_REGIONS_MAX = 8192, BOX_ARGS_MAX = 1024, BOX_CALLS_MAX = 4096, BOX_CPUS_MAX = 256 };
enum { BOX_ROUNDS_MAX = 64 };

/* A piece of memory as the guest sees it, with unmapped addresses on both sides. The data may stand
 * at its left end (lead 0), at its right end (lead = span - bytes) or between. */
struct box_region {
    const struct box_memory *memory;
    size_t offset; /* of the piece in the memory; whole pages */
    size_t span;   /* whole pages */
    size_t lead;   /* bytes of the piece before the data */
    size_t bytes;  /* of the data: what is reported as past the end or before the start */
    bool writable;
};

/* A pointer argument. */
struct box_arg {
    uint32_t region;
    uint64_t offset; /* from the start of the region's data */
};

enum box_mode {
    BOX_SPIN,  /* caller and guest spin on different CPUs: fewer threads than CPUs */
    BOX_FUTEX, /* the caller sleeps, on the CPU of the guest's first thread: all CPUs */
};

/* Zero stands for the default in brackets. */
struct box_run_limits {
    double wall_seconds;  /* [2] from go to done */
    double cpu_seconds;   /* [10] */
    double setup_seconds; /* [60] until the guest is ready: trusted work */
    size_t memory;        /* [1 GB] address space beyond the regions and what the runner needs */
    size_t stack;         /* [8 MB] of each thread */
};

/* Called by box_run(); each may be NULL. They may be called again when a server was lost. */
struct box_hooks {
    void *context;
    void (*prepare)(void *context); /* the runner is loading: fill inputs, poison outputs */
    void (*armed)(void *context);   /* just before the first stamp */
    void (*done)(void *context);    /* after the second stamp; the guest has been killed */
    uint64_t (*clock)(void);        /* NULL: nanoseconds of CLOCK_MONOTONIC_RAW */
};

struct box_job {
    int object;           /* as box_compile() made it, audited; stays the caller's */
    const char *function; /* void function(void *, ...) */
    const struct box_region *regions;
    size_t region_count;
    const struct box_arg *args; /* call_count x arg_count, call by call */
    size_t call_count, arg_count;
    /* Calls of one round, of which there are at most BOX_ROUNDS_MAX; 0: no rounds. After so many
     * rounds (0: all) the sample ends and the guest is killed, though it may have begun the next
     * one. It cannot know that before. */
    size_t round, stop_after;
    const int *cpus; /* one for each thread; the first thread runs on cpus[0] */
    size_t threads;  /* 1 .. BOX_CPUS_MAX */
    int caller_cpu;  /* the calling thread stays on it during the run; -1: as it is */
    enum box_mode mode;
    bool no_clock; /* reading the time stamp counter or the clock is a crash */
    bool warm;     /* each thread has gone over its share of the regions before the first stamp */
    bool
        count_faults; /* see box_end.timed_faults; costs some microseconds before the first stamp */
    bool realtime; /* caller and guest in real-time classes from `ready` to the end, so that others
                    * do not run in between; for BOX_FUTEX, where we may (root), and wall_seconds is
                    * at most BOX_REALTIME_SECONDS. The CPUs must be this job's alone: real-time
                    * guests do not share them. Hooks must not start processes then. */
    struct box_run_limits limits;
    struct box_hooks hooks;
};

enum box_ending {
    BOX_DONE,       /* all calls returned */
    BOX_NOT_LOADED, /* the loader refused the object, or it is larger than limits.memory */
    BOX_EXITED,     /* the process ended before the calls had returned */
    BOX_CRASHED,    /* a signal; see `fault` */
    BOX_FORBIDDEN,  /* a system call that is not allowed */
    BOX_TIMEOUT,    /* wall or CPU time */
};

enum box_fault {
    BOX_FAULT_OTHER,    /* not an address, or one that belongs to nothing */
    BOX_FAULT_NULL,     /* an address below 64 KiB */
    BOX_FAULT_PAST_END, /* of region number `region`, at byte `offset` of its data */
    BOX_FAULT_BEFORE_START,
    BOX_FAULT_READ_ONLY, /* a write to a read-only region */
    BOX_FAULT_STACK,     /* stack overflow */
    BOX_FAULT_CODE,      /* a jump to memory that is not code */
};

struct box_end {
    enum box_ending ending;
    char reason[200];        /* one line; "" if done */
    uint64_t t0, t1;         /* the caller's clock; 0 where it was not reached */
    int exit_code;           /* BOX_EXITED */
    int signal, signal_code; /* BOX_CRASHED */
    enum box_fault fault;
    uint64_t address;     /* of the fault */
    uint64_t code_offset; /* of the faulting instruction in the object; 0 if it is elsewhere */
    uint32_t region;      /* of the fault, where that is known */
    int64_t offset;
    int syscall;              /* BOX_FORBIDDEN */
    const char *syscall_name; /* "socket", "32-bit call", "x32 call", "unknown" */
    uint64_t minor_faults, major_faults, involuntary_switches;
    int64_t timed_faults; /* page faults, minor and major, from just before t0 until the guest's
                           * end, if job.count_faults; -1: not known */
    double user_seconds, system_seconds;
    uint32_t calls;    /* that had returned when it died, by the guest's own word */
    bool realtime;     /* job.realtime was heeded; with job.stop_after, no further call was begun */
    unsigned replaced; /* servers lost and replaced during this run */
};

struct box_server;

/* Starts nothing yet: the processes are started by the first run, one for each set of CPUs. */
enum status
box_server_start(const struct box *box, struct box_server **server, struct diags *diags);

void
box_server_stop(struct box_server *server); /* NULL is allowed */

/* One fresh process, one sample. When it returns, the guest is dead and reaped. A server that was
 * killed from outside is replaced and the run repeated, hooks included. */
enum status
box_run(struct box_server *server, const struct box_job *job, struct box_end *end,
        struct diags *diags);

const char *
box_ending_name(enum box_ending ending);

/* The name of a system call of this machine, or "unknown". */
const char *
box_syscall_name(int number);

/* Process ids of the servers now alive (at most `most`): for tests and for `hone machine`. */
size_t
box_server_pids(const struct box_server *server, int *pids, size_t most);

#endif
