/* The guest's system calls: an allow-list that OpenMP can live on and nothing else.
 *
 * 1. A call of another ABI (32-bit, x32) is trapped before its number is looked at.
 * 2. What is not in the table is trapped. SIGSYS cannot be caught, since rt_sigaction is not in the
 *    table, and unlike a kill it shows the tracer which call it was.
 * 3. No memory becomes executable: mmap and mprotect are refused with PROT_EXEC, mmap also with a
 *    file. No process is made: clone needs the flags of a thread and no namespace, and clone3,
 *    whose flags a filter cannot see, does not exist (glibc then takes clone).
 * 4. Of madvise only what concerns the guest's own pages: others would split or evict the huge
 * pages of memory that the next guest uses too. Of futex no priority inheritance.
 * 5. Filters add up and the strictest answer wins, so the load filter allows whatever the run
 * filter answers with a mere error.
 *
 * The kernel keeps a bitmap of the calls that are always allowed and does not run the program for
 * those, so its speed hardly matters; but to make the bitmap it walks the program once for every
 * call there is, at each installation. Hence one instruction for each such call, and those first.
 */
#include "box/filter_int.h"

#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#define ARCH 0 /* matches nothing, so that every call is trapped: name the machine here */
#endif
#define X32_BIT 0x40000000u
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum rule { ALLOW, REFUSE, MAP, PROTECT, CLONE, FUTEX, ADVISE };

struct row {
    int number;
    enum rule rule;
    int error; /* for REFUSE */
};

static const struct row run_rows[] = {
    {SYS_futex, FUTEX, ENOSYS},
    {SYS_sched_yield, ALLOW, 0},
    {SYS_madvise, ADVISE, EPERM},
    {SYS_munmap, ALLOW, 0},
    {SYS_brk, ALLOW, 0},
    {SYS_mmap, MAP, 0},
    {SYS_mprotect, PROTECT, 0},
    {SYS_clone, CLONE, 0},
    {SYS_clone3, REFUSE, ENOSYS},
    {SYS_exit, ALLOW, 0},
    {SYS_exit_group, ALLOW, 0},
    {SYS_set_robust_list, ALLOW, 0},
    {SYS_rseq, ALLOW, 0},
    {SYS_rt_sigprocmask, ALLOW, 0},
    {SYS_rt_sigreturn, ALLOW, 0},
    {SYS_restart_syscall, ALLOW, 0},
    {SYS_sched_getaffinity, ALLOW, 0},
    {SYS_sched_setaffinity, ALLOW, 0},
    {SYS_gettid, ALLOW, 0},
    {SYS_getpid, ALLOW, 0},
    /* What the C library tries in passing: an error, not death. */
    {SYS_mremap, REFUSE, ENOMEM},
    {SYS_openat, REFUSE, EPERM},
    {SYS_ioctl, REFUSE, EPERM},
    {SYS_write, REFUSE, EPERM},
    {SYS_writev, REFUSE, EPERM},
    {SYS_prlimit64, REFUSE, EPERM},
    {SYS_prctl, REFUSE, EPERM},
    {SYS_getrandom, REFUSE, ENOSYS},
    {SYS_sysinfo, REFUSE, EPERM},
    {SYS_clock_gettime, REFUSE, EPERM},
    {SYS_getcpu, REFUSE, EPERM},
};

/* More for the stub, while it is still alone: files, memory of every kind, further locks. */
static const struct row load_rows[] = {
    {SYS_mmap, ALLOW, 0},
    {SYS_mprotect, ALLOW, 0},
    {SYS_madvise, ALLOW, 0},
    {SYS_openat, ALLOW, 0},
    {SYS_read, ALLOW, 0},
    {SYS_pread64, ALLOW, 0},
    {SYS_lseek, ALLOW, 0},
    {SYS_fstat, ALLOW, 0},
    {SYS_newfstatat, ALLOW, 0},
    {SYS_close, ALLOW, 0},
    {SYS_close_range, ALLOW, 0},
    {SYS_seccomp, ALLOW, 0},
    {SYS_prctl, ALLOW, 0},
    {SYS_readlinkat, ALLOW, 0},
#ifdef SYS_readlink
    {SYS_readlink, ALLOW, 0},
#endif
    {SYS_getcwd, ALLOW, 0},
    {SYS_landlock_create_ruleset, ALLOW, 0},
    {SYS_landlock_add_rule, ALLOW, 0},
    {SYS_landlock_restrict_self, ALLOW, 0},
    {SYS_write, ALLOW, 0},
    {SYS_writev, ALLOW, 0},
    {SYS_ioctl, ALLOW, 0},
    {SYS_prlimit64, ALLOW, 0},
    {SYS_getrandom, ALLOW, 0},
    {SYS_sysinfo, ALLOW, 0},
    {SYS_clock_gettime, ALLOW, 0},
    {SYS_getcpu, ALLOW, 0},
};

/* A compiler needs files and processes; these it never needs. */
static const int compiler_denied[] = {
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_unshare,
    SYS_setns,
    SYS_socket,
    SYS_socketpair,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_kexec_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_memfd_create,
    SYS_setsid,
    SYS_setpgid,
    SYS_open_by_handle_at,
    SYS_name_to_handle_at,
    SYS_fanotify_init,
    SYS_quotactl,
    SYS_acct,
    SYS_swapon,
    SYS_reboot,
    SYS_personality,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsmount,
    SYS_mount_setattr,
    SYS_pidfd_getfd,
    SYS_shmget,
    SYS_msgget,
    SYS_semget,
};

static void
emit(struct box__program *program, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
    assert(program->length < BOX__FILTER_MOST);
    program->code[program->length++] = (struct sock_filter){code, yes, no, k};
}

static void
load(struct box__program *program, size_t offset)
{
    emit(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void
answer(struct box__program *program, uint32_t action)
{
    emit(program, BPF_RET | BPF_K, action, 0, 0);
}

/* The low half of argument `n`: all flags that matter lie there. */
static void
load_arg(struct box__program *program, unsigned n)
{
    load(program, offsetof(struct seccomp_data, args) + n * sizeof(uint64_t));
}

static void
emit_map(struct box__program *program)
{
    load_arg(program, 2);
    emit(program, BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 2, 0);
    load_arg(program, 3);
    emit(program, BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 1, 0);
    answer(program, SECCOMP_RET_TRAP);
    answer(program, SECCOMP_RET_ALLOW);
}

static void
emit_protect(struct box__program *program)
{
    load_arg(program, 2);
    emit(program, BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1);
    answer(program, SECCOMP_RET_TRAP);
    answer(program, SECCOMP_RET_ALLOW);
}

static void
emit_clone(struct box__program *program, bool threads)
{
    uint32_t thread =
        CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    uint32_t spaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                      CLONE_NEWPID | CLONE_NEWNET;

    load_arg(program, 0);
    emit(program, BPF_JMP | BPF_JSET | BPF_K, spaces, 2, 0);
    emit(program, BPF_ALU | BPF_AND | BPF_K, thread, 0, 0);
    emit(program, BPF_JMP | BPF_JEQ | BPF_K, thread, 1, 0);
    answer(program, SECCOMP_RET_TRAP);
    answer(program, threads ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EAGAIN);
}

/* Allowed if the argument, or what the mask leaves of it, is in the list; else an error. */
static void
emit_choice(struct box__program *program, unsigned arg, uint32_t mask, const uint32_t *list,
            size_t count, int error)
{
    load_arg(program, arg);
    emit(program, BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
    for (size_t i = 0; i < count; i++)
        emit(program, BPF_JMP | BPF_JEQ | BPF_K, list[i], (uint8_t)(count - i), 0);
    answer(program, SECCOMP_RET_ERRNO | (uint32_t)error);
    answer(program, SECCOMP_RET_ALLOW);
}

static void
emit_futex(struct box__program *program, int error)
{
    static const uint32_t calls[] = {FUTEX_WAIT,       FUTEX_WAKE,        FUTEX_WAIT_BITSET,
                                     FUTEX_REQUEUE,    FUTEX_CMP_REQUEUE, FUTEX_WAKE_OP,
                                     FUTEX_WAKE_BITSET};

    emit_choice(program, 1, ~(uint32_t)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME), calls,
                COUNT(calls), error);
}

static void
emit_advise(struct box__program *program, int error)
{
    static const uint32_t advice[] = {MADV_NORMAL, MADV_RANDOM,   MADV_SEQUENTIAL, MADV_WILLNEED,
                                      MADV_FREE,   MADV_DONTNEED, MADV_HUGEPAGE,   MADV_NOHUGEPAGE};

    emit_choice(program, 2, ~(uint32_t)0, advice, COUNT(advice), error);
}

static void
emit_rule(struct box__program *program, const struct row *row, bool threads)
{
    switch (row->rule) {
    case ALLOW:
        answer(program, SECCOMP_RET_ALLOW);
        break;
    case REFUSE:
        answer(program, SECCOMP_RET_ERRNO | (uint32_t)row->error);
        break;
    case MAP:
        emit_map(program);
        break;
    case PROTECT:
        emit_protect(program);
        break;
    case CLONE:
        emit_clone(program, threads);
        break;
    case FUTEX:
        emit_futex(program, row->error);
        break;
    case ADVISE:
        emit_advise(program, row->error);
        break;
    }
}

/* "Is it this number? If not, go on behind the rule." Every rule ends with an answer, so the number
 * is still loaded there. */
static void
emit_row(struct box__program *program, const struct row *row, bool threads)
{
    size_t test = program->length;

    emit(program, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)row->number, 0, 0);
    emit_rule(program, row, threads);
    program->code[test].jf = (uint8_t)(program->length - test - 1);
}

/* The rows that say ALLOW without more: a chain of tests that lead to one answer behind it. */
static void
emit_allowed(struct box__program *program, const struct row *rows, size_t count)
{
    size_t first = program->length, last;

    for (size_t i = 0; i < count; i++)
        if (rows[i].rule == ALLOW)
            emit(program, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)rows[i].number, 0, 0);
    last = program->length;
    emit(program, BPF_JMP | BPF_JA, 1, 0, 0);
    answer(program, SECCOMP_RET_ALLOW);
    for (size_t i = first; i < last; i++)
        program->code[i].jt = (uint8_t)(last - i);
}

static void
emit_head(struct box__program *program)
{
    load(program, offsetof(struct seccomp_data, arch));
    emit(program, BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
    answer(program, SECCOMP_RET_TRAP);
    load(program, offsetof(struct seccomp_data, nr));
    emit(program, BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
    answer(program, SECCOMP_RET_TRAP);
}

static void
emit_compiler(struct box__program *program)
{
    for (size_t i = 0; i < COUNT(compiler_denied); i++)
        emit_row(program, &(struct row){compiler_denied[i], REFUSE, EPERM}, false);
    answer(program, SECCOMP_RET_ALLOW);
}

/* The first row of a number counts: the load filter's, which are all of the simple kind. */
void
box__filter_make(struct box__program *program, enum box__filter filter, bool threads)
{
    program->length = 0;
    emit_head(program);
    if (filter == BOX__FILTER_COMPILER) {
        emit_compiler(program);
        return;
    }
    if (filter == BOX__FILTER_LOAD)
        emit_allowed(program, load_rows, COUNT(load_rows));
    emit_allowed(program, run_rows, COUNT(run_rows));
    for (size_t i = 0; i < COUNT(run_rows); i++)
        if (run_rows[i].rule != ALLOW)
            emit_row(program, &run_rows[i], threads);
    answer(program, SECCOMP_RET_TRAP);
}

/* SPEC_ALLOW: a filter must not switch the processor's speculation off, which would slow the guest
 * down and nothing else: there is no secret in its address space. */
int
box__filter_install(const struct box__program *program)
{
    struct sock_fprog install = {(unsigned short)program->length,
                                 (struct sock_filter *)program->code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                        &install);
}
