/* The guest's process, from its fork to its death. Trusted until the first call of the function,
 * and of no trust whatever from there on.
 *
 * Invariants, in the order in which they are established:
 *  1. It dies with the server, is pinned, and has its limits.
 *  2. Under the load filter it maps its memory and loads the object. The audit has seen to it that
 *     loading runs no code of the object.
 *  3. Every page that an honest function touches is there: regions, the object's segments (its
 *     static scratch among them) and the stacks. Page faults would count as the guest's time.
 *  4. No descriptor is open. Inputs were mapped from read-only descriptors, so no mprotect() makes
 *     them writable.
 *  5. The run filter is on.
 *  6. Only then are the threads made: filters are per thread, and one made earlier would have none.
 *     The object's own parallel regions use this pool, since both resolve to one libgomp.
 *  7. `ready`; on go = 1 the pool is woken, so that its threads spin when the clock starts, then
 *     `armed`; on go = 2 the calls are made, each round of them told, then `done`. It never
 *     returns: it is killed.
 *
 * A stub that fails says where in the control page and exits; none of the guest's code has run
 * then, so it can be believed. */
#include "box/server/server_int.h"

#include "box/box.h"
#include "box/filter_int.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    STACK_TOUCH = 128 * 1024,
    SPARE_THREADS = 32,
    SHORT_SPIN = 2000,
    LINE = 64,
    WARMING = 1 << 26
};

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

static struct box__ctl *const ctl = (struct box__ctl *)BOX__CTL_ADDRESS;
static const struct box__table *const table = (const struct box__table *)BOX__TABLE_ADDRESS;

static const struct box__region *
table_regions(void)
{
    return (const struct box__region *)(table + 1);
}

static const uint64_t *
table_args(void)
{
    return (const uint64_t *)(table_regions() + table->region_count);
}

static _Noreturn void
give_up(enum box__stage stage, const char *text)
{
    ctl->error = errno;
    snprintf(ctl->text, sizeof ctl->text, "%s", text);
    __atomic_store_n(&ctl->stage, (uint32_t)stage, __ATOMIC_SEQ_CST);
    _exit(100);
}

static void
relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("" ::: "memory");
#endif
}

/* 1. Limits. */

static int
limit(int resource, uint64_t soft, uint64_t hard)
{
    struct rlimit wanted = {soft, hard}, now;

    if (setrlimit((__rlimit_resource_t)resource, &wanted) == 0)
        return 0;
    if (errno != EPERM || getrlimit((__rlimit_resource_t)resource, &now) != 0)
        return -1;
    wanted.rlim_max = now.rlim_max; /* we are under a stricter limit ourselves */
    wanted.rlim_cur = soft < now.rlim_max ? soft : now.rlim_max;
    return setrlimit((__rlimit_resource_t)resource, &wanted);
}

/* The soft limit on CPU time gives SIGXCPU, by which it is known from an outsider's SIGKILL. That
 * on real time binds a real-time guest whose caller is no longer there to kill it. */
static void
set_limits(const struct runner *runner)
{
    uint64_t cpu = table->cpu_seconds, threads = table->threads + SPARE_THREADS;

    if (limit(RLIMIT_CORE, 0, 0) != 0 || limit(RLIMIT_FSIZE, 0, 0) != 0 ||
        limit(RLIMIT_CPU, cpu, cpu + 1) != 0 || limit(RLIMIT_STACK, table->stack, table->stack) ||
        limit(RLIMIT_AS, table->address_space, table->address_space) != 0 ||
        limit(RLIMIT_MEMLOCK, 0, 0) != 0 ||
        limit(RLIMIT_RTTIME, table->real_time_us, table->real_time_us + 500000) != 0)
        give_up(BOX__STAGE_LIMITS, "limits cannot be set");
    if (runner->use_nproc && limit(RLIMIT_NPROC, threads, threads) != 0)
        give_up(BOX__STAGE_LIMITS, "the limit on threads cannot be set");
}

/* 2. Memory and object. */

static void
map_control(int fd)
{
    void *words = mmap((void *)BOX__CTL_ADDRESS, 4096, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_POPULATE, fd, 0);
    const struct box__table *head;
    size_t bytes;

    if (words == MAP_FAILED)
        _exit(101);
    head = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 4096);
    if (head == MAP_FAILED)
        give_up(BOX__STAGE_MAP, "the job cannot be read");
    bytes = head->bytes;
    munmap((void *)head, 4096);
    /* private: the guest can make it writable, and then writes to a copy of its own */
    if (mmap((void *)BOX__TABLE_ADDRESS, bytes, PROT_READ,
             MAP_PRIVATE | MAP_FIXED_NOREPLACE | MAP_POPULATE, fd, 4096) == MAP_FAILED)
        give_up(BOX__STAGE_MAP, "the job cannot be mapped");
}

static void
map_regions(const struct runner *runner)
{
    for (uint32_t i = 0; i < table->region_count; i++) {
        const struct box__region *region = &table_regions()[i];
        int protection = region->writable ? PROT_READ | PROT_WRITE : PROT_READ;

        if (region->fd >= runner->fd_count ||
            mmap((void *)region->address, region->span, protection,
                 MAP_SHARED | MAP_FIXED_NOREPLACE, runner->fds[region->fd],
                 (off_t)region->offset) == MAP_FAILED)
            give_up(BOX__STAGE_MAP, "a region cannot be mapped");
    }
}

static void *
load(const struct runner *runner)
{
    struct loading loading = {.path = runner->object,
                              .fd = runner->fds[0],
                              .memory = table->memory,
                              .name = table->function};
    char by_number[32];
    enum box__stage stage;

    if (!loading.path) {
        snprintf(by_number, sizeof by_number, "/proc/self/fd/%d", loading.fd);
        loading.path = by_number;
    }
    stage = load_object(&loading);
    if (stage != BOX__STAGE_NONE)
        give_up(stage, loading.text);
    return loading.function;
}

/* 3. Pages. */

static void
populate(uintptr_t start, uintptr_t end, bool writable)
{
    start &= ~(uintptr_t)4095;
    end = (end + 4095) & ~(uintptr_t)4095;
    if (start >= end || madvise((void *)start, end - start,
                                writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0)
        return;
    if (errno != EINVAL)
        give_up(BOX__STAGE_POPULATE, "memory cannot be provided");
    for (volatile char *page = (char *)start; (uintptr_t)page < end; page += 4096) {
        char byte = *page; /* a kernel before 5.14 */

        if (writable)
            *page = byte;
    }
}

/* The loader has write-protected PT_GNU_RELRO again: it is read, the rest of its segment written.
 */
static int
populate_object(struct dl_phdr_info *info, size_t size, void *function)
{
    uintptr_t relro_end = 0;
    bool ours = false;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr, end = start + header->p_memsz;

        ours |= header->p_type == PT_LOAD && (uintptr_t)function - start < header->p_memsz;
        if (header->p_type == PT_GNU_RELRO)
            relro_end = end & ~(uintptr_t)4095;
    }
    if (!ours)
        return 0;
    ctl->code = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr, end = start + header->p_memsz;
        bool writable = header->p_flags & PF_W;

        if (header->p_type != PT_LOAD)
            continue;
        if (end - info->dlpi_addr > ctl->code_bytes)
            ctl->code_bytes = end - info->dlpi_addr;
        if (writable && relro_end > start) {
            populate(start, relro_end, false);
            start = relro_end;
        }
        populate(start, end, writable);
    }
    return 1;
}

static void
populate_all(void *function)
{
    for (uint32_t i = 0; i < table->region_count; i++) {
        const struct box__region *region = &table_regions()[i];

        populate(region->address, region->address + region->span, region->writable);
    }
    dl_iterate_phdr(populate_object, function);
}

/* 5. Filters. */

static void
install(const struct runner *runner, enum box__filter filter)
{
    struct box__program program;

    if (!runner->filter) /* the caller has said that it wants to run without */
        return;
    box__filter_make(&program, filter, table->threads > 1);
    if (box__filter_install(&program) != 0)
        give_up(BOX__STAGE_FILTER, "the system call filter cannot be installed");
}

/* 6. Threads. */

static __attribute__((noinline)) void
region_of_all(void)
{
#pragma omp parallel
    {
        volatile char stack[STACK_TOUCH];
        int number = omp_get_thread_num();

        for (int i = 0; i < STACK_TOUCH; i += 4096)
            stack[i] = 0;
        if (number < BOX__STACKS)
            ctl->stacks[number] = (uintptr_t)&stack[STACK_TOUCH - 1];
    }
}

/* A thread's share of a region comes near, as most functions will divide it. What will be written
 * is written with what it holds, so that no other processor has it. */
static void
warm_region(const struct box__region *region, uint64_t number, uint64_t threads)
{
    volatile char *data = (char *)region->address;
    uint64_t end = region->span * (number + 1) / threads;

    for (uint64_t at = region->span * number / threads; at < end; at += LINE)
        if (region->writable)
            data[at] = data[at]; // cppcheck-suppress selfAssignment
        else
            (void)data[at];
}

/* More than once: a last cache may keep only what is asked for again. (Zen 3: eight passes over
 * 8 MB until they come from there.) */
static __attribute__((noinline)) void
warm_regions(void)
{
    uint64_t bytes = 1, passes;

    for (uint32_t i = 0; i < table->region_count; i++)
        bytes += table_regions()[i].span;
    passes = WARMING / bytes < 1 ? 1 : WARMING / bytes > 16 ? 16 : WARMING / bytes;
#pragma omp parallel
    for (uint64_t pass = 0; pass < passes; pass++)
        for (uint32_t i = 0; i < table->region_count; i++)
            warm_region(&table_regions()[i], (uint64_t)omp_get_thread_num(),
                        (uint64_t)omp_get_num_threads());
}

/* 7. The handshake. */

/* A caller that spins needs no waking, and must not start its clock while we are in that call. */
static void
tell(uint32_t *word, bool spin)
{
    __atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
    if (!spin)
        box__futex_wake(word);
}

/* Spins that often, then sleeps; < 0: spins for ever. */
static void
await(uint32_t below, long spins)
{
    uint32_t now;

    while ((now = __atomic_load_n(&ctl->go, __ATOMIC_ACQUIRE)) < below) {
        if (spins < 0 || spins-- > 0)
            relax();
        else
            box__futex_wait(&ctl->go, now, -1);
    }
}

/* The path of a call, walked once before the clock starts: its code, its stack, the table. */
static void
nothing(void *a, void *b, void *c, void *d, void *e, void *f)
{
    (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
}

/* Its first lines of code, as far as they are on one page, are brought near as data: not one
 * instruction of it may run yet. */
static void
touch_code(const void *function)
{
    size_t left = 4096 - (uintptr_t)function % 4096;

    for (size_t i = 0; i < 256 && i < left; i += 64)
        (void)((const volatile char *)function)[i];
}

static void
make_calls(void *function)
{
    uint32_t calls = table->call_count, args = table->arg_count;
    uint32_t round = table->round, told = 0, next = round;
    const uint64_t *given = table_args();

    for (uint32_t i = 0; i < calls; i++) {
        call_function(function, given + (size_t)i * args, args);
        __atomic_store_n(&ctl->calls, i + 1, __ATOMIC_RELEASE);
        if (i + 1 == next && next < calls) {
            tell(&ctl->rounds[told++], table->spin);
            next += round;
        }
    }
}

static void
check_args(void)
{
    char text[BOX__TEXT];

    if (table->arg_count <= call_args_most())
        return;
    errno = 0;
    snprintf(text, sizeof text, "a function of %u arguments cannot be called here; %zu is the most",
             table->arg_count, call_args_most());
    give_up(BOX__STAGE_CALL, text);
}

static void
prepare(const struct runner *runner, void **function)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    map_control(runner->fds[1]);
    check_args();
    set_limits(runner);
    install(runner, BOX__FILTER_LOAD);
    map_regions(runner);
    *function = load(runner);
    if (runner->landlock && landlock_deny_all() != 0)
        give_up(BOX__STAGE_FILTER, "Landlock cannot be set");
    populate_all(*function);
    if (close_range(0, ~0u, 0) != 0)
        give_up(BOX__STAGE_CLOSE, "descriptors cannot be closed");
#if defined(__x86_64__)
    if (table->no_clock && prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0)
        give_up(BOX__STAGE_FILTER, "the clock cannot be taken away");
#endif
    install(runner, BOX__FILTER_RUN);
    region_of_all();
    region_of_all();
}

_Noreturn void
runner_main(const struct runner *runner)
{
    void *function;
    bool spin;

    prepare(runner, &function);
    spin = table->spin;
    tell(&ctl->ready, false);
    await(1, spin ? SHORT_SPIN : 0);
    region_of_all();
    if (table->warm)
        warm_regions();
    make_calls((void *)nothing);
    ctl->calls = 0;
    memset(ctl->rounds, 0, sizeof ctl->rounds);
    touch_code(function);
    tell(&ctl->armed, spin);
    await(2, spin ? -1 : 0);
    make_calls(function);
    tell(&ctl->done, spin);
    for (;;)
        box__futex_wait(&ctl->done, 1, -1);
}
