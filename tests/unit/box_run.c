/* How a guest may end, and that it is told apart: each fixture with the ending it must get. */
#include "../box/box_test.h"

#include <signal.h>

#define CALL(number)                                                                             \
    "static long call(long n, long a, long b, long c, long d, long e, long f)\n"                 \
    "{ long r; register long r10 __asm__(\"r10\") = d, r8 __asm__(\"r8\") = e,\n"                \
    "  r9 __asm__(\"r9\") = f; __asm__ volatile(\"syscall\" : \"=a\"(r) : \"0\"(n), \"D\"(a),\n" \
    "  \"S\"(b), \"d\"(c), \"r\"(r10), \"r\"(r8), \"r\"(r9) : \"rcx\", \"r11\", \"memory\");\n"  \
    "  return r; }\n"                                                                            \
    "void kernel(const float *x, float *y) { y[0] = (float)call(" number "); }\n"
#define BODY(text) "void kernel(const float *x, float *y) { " text " }\n"

static struct box_end
run_text(struct box_test *test, const char *source)
{
    int object = box_test_object(test, source);
    struct box_test_job made;
    struct box_end end;

    box_test_job(test, &made, object, 256);
    made.job.limits.wall_seconds = 0.5;
    end = box_test_run(test, &made.job);
    close(object);
    return end;
}

static void
calls_return(void **state)
{
    struct box_test *test = *state;
    int object = box_test_object(test, BODY("for (int i = 0; i < 64; i++) y[i] = 2 * x[i];"));
    struct box_test_job made;
    struct box_end end;

    box_test_job(test, &made, object, 256);
    for (int mode = 0; mode < 2; mode++) {
        float *x = box_test_data(test, &made.regions[0]);
        float *y = box_test_data(test, &made.regions[1]);

        for (int i = 0; i < 64; i++) {
            x[i] = (float)(i + mode);
            y[i] = -1;
        }
        made.job.mode = mode ? BOX_FUTEX : made.job.mode;
        end = box_test_run(test, &made.job);
        assert_int_equal(end.ending, BOX_DONE);
        assert_string_equal(end.reason, "");
        assert_true(end.t1 > end.t0);
        for (int i = 0; i < 64; i++)
            assert_true(y[i] == 2 * (float)(i + mode));
    }
    close(object);
}

/* Many calls, each with its own arguments; more than six of them. */
static void
arguments_arrive(void **state)
{
    struct box_test *test = *state;
    int object = box_test_object(
        test, "void kernel(float *a, float *b, float *c, float *d, float *e, float *f, float *g,\n"
              "            float *h) { *h += *a + *b + *c + *d + *e + *f + *g; }\n");
    struct box_arg args[3 * 8];
    struct box_test_job made;
    float *y;

    box_test_job(test, &made, object, 256);
    y = box_test_data(test, &made.regions[1]);
    for (int i = 0; i < 64; i++)
        y[i] = (float)i;
    for (size_t call = 0; call < 3; call++)
        for (size_t i = 0; i < 8; i++)
            args[call * 8 + i] = (struct box_arg){1, 4 * (i < 7 ? i + call : 50 + call)};
    made.job.args = args;
    made.job.arg_count = 8;
    made.job.call_count = 3;
    assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
    for (int call = 0; call < 3; call++)
        assert_true(y[50 + call] == (float)(50 + call + 21 + 7 * call));
    close(object);
}

/* The guest goes on for ever behind its second round, but the caller wanted no more of it. */
static void
a_sample_ends_with_a_round(void **state)
{
    enum { CALLS = 8, ROUND = 2 };
    struct box_test *test = *state;
    int object =
        box_test_object(test, BODY("static int calls; if (calls == 4) for (;;); y[0] = ++calls;"));
    struct box_arg args[2 * CALLS];
    struct box_test_job made;
    struct box_end end;

    box_test_job(test, &made, object, 256);
    for (size_t i = 0; i < 2 * CALLS; i++)
        args[i] = (struct box_arg){i % 2, 0};
    made.job.args = args;
    made.job.call_count = CALLS;
    made.job.round = ROUND;
    made.job.limits.wall_seconds = 1;
    for (int mode = 0; mode < 2; mode++) {
        made.job.mode = mode ? BOX_FUTEX : made.job.mode;
        made.job.stop_after = 2;
        end = box_test_run(test, &made.job);
        assert_int_equal(end.ending, BOX_DONE);
        assert_int_equal(end.calls, 4);
        assert_true(*box_test_data(test, &made.regions[1]) == 4);
        made.job.stop_after = 3;
        assert_int_equal(box_test_run(test, &made.job).ending, BOX_TIMEOUT);
    }
    close(object);
}

/* void kernel(float *a0, ...) { *a0 = 1; *a1 = 2; ... }, with a store that traps on a stack that is
 * not aligned, and every register taken that a function must give back. */
static const char *
text_of_many(struct box_test *test, size_t count)
{
    size_t room = 4096 + 64 * count, at = 0;
    char *text = arena_alloc(test->arena, room);

    at += (size_t)snprintf(text, room, "void kernel(");
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, room - at, "%sfloat *a%zu", i ? ", " : "", i);
    at += (size_t)snprintf(
        text + at, room - at,
        "%s) {\n"
        "char v[16] __attribute__((aligned(16)));\n"
        "__asm__ volatile(\"movaps %%%%xmm0, %%0\" : \"=m\"(v));\n"
        "__asm__ volatile(\"\" ::: \"rbx\", \"r12\", \"r13\", \"r14\", \"r15\");\n",
        count == 0 ? "void" : "");
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, room - at, "*a%zu = %zu;\n", i, i + 1);
    at += (size_t)snprintf(text + at, room - at, "}\n");
    assert_true(at < room);
    return text;
}

/* Two calls: the second has its arguments in the opposite order. */
static void
many_arguments_arrive(void **state)
{
    static const size_t counts[] = {0, 1, 2, 5, 6, 7, 8, 9, 31, 32, 33, 103, 104, 1000, 1024};
    struct box_test *test = *state;
    struct box_arg args[2 * BOX_ARGS_MAX];
    struct box_test_job made;
    float *y;

    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        size_t count = counts[k];
        int object = box_test_object(test, text_of_many(test, count));

        box_test_job(test, &made, object, BOX_PAGE);
        made.job.args = args;
        made.job.arg_count = count;
        y = box_test_data(test, &made.regions[1]);
        for (size_t calls = 1; calls <= 2; calls++) {
            memset(y, 0, BOX_PAGE);
            for (size_t i = 0; i < count; i++) {
                args[i] = (struct box_arg){1, 4 * i};
                args[count + i] = (struct box_arg){1, 4 * (count - 1 - i)};
            }
            made.job.call_count = calls;
            assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
            for (size_t i = 0; i < BOX_PAGE / 4; i++)
                assert_true(y[i] == (float)(i >= count ? 0 : calls == 1 ? i + 1 : count - i));
        }
        close(object);
    }
}

/* Every argument a region of its own, and as many regions as there may be. */
static void
many_regions(void **state)
{
    struct box_test *test = *state;
    struct box_region *regions = arena_alloc(test->arena, BOX_REGIONS_MAX * sizeof *regions);
    struct box_arg args[BOX_REGIONS_MAX];
    int object = box_test_object(test, text_of_many(test, 1024));
    struct box_memory *memory;
    struct box_test_job made;
    size_t count = BOX_REGIONS_MAX;
    float *data;

    assert_int_equal(box_memory_create(test->box, count * BOX_PAGE, &memory, test->diags),
                     STATUS_OK);
    data = box_memory_base(memory);
    for (size_t i = 0; i < count; i++) {
        regions[i] = (struct box_region){memory, i * BOX_PAGE, BOX_PAGE, BOX_PAGE - 4, 4, true};
        args[i] = (struct box_arg){(uint32_t)i, 0};
    }
    box_test_job(test, &made, object, 256);
    made.job.regions = regions;
    made.job.region_count = count;
    made.job.args = args;
    made.job.arg_count = BOX_ARGS_MAX;
    made.job.call_count = count / BOX_ARGS_MAX;
    assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
    for (size_t i = 0; i < count; i++)
        assert_true(data[(i + 1) * BOX_PAGE / 4 - 1] == (float)(i % BOX_ARGS_MAX + 1));
    box_memory_destroy(memory);
    close(object);
}

static void
addresses_are_named(void **state)
{
    static const struct {
        const char *source;
        enum box_fault fault;
        uint32_t region;
        int64_t offset;
    } cases[] = {
        {BODY("y[64] = 1;"), BOX_FAULT_PAST_END, 1, 256},
        {BODY("y[70000] = 1;"), BOX_FAULT_PAST_END, 1, 280000},
        {BODY("y[0] = ((volatile const float *)x)[64];"), BOX_FAULT_PAST_END, 0, 256},
        {BODY("y[-1000] = 1;"), BOX_FAULT_BEFORE_START, 1, -4000},
        {BODY("((float *)x)[3] = 1;"), BOX_FAULT_READ_ONLY, 0, 12},
        {BODY("*(volatile int *)8 = 1;"), BOX_FAULT_NULL, 0, 0},
        {BODY("((void (*)(void))y)();"), BOX_FAULT_OTHER, 0, 0},
        {BODY("*(volatile int *)0x123456789000 = 1;"), BOX_FAULT_OTHER, 0, 0},
        {"static int deep(volatile char *p) { volatile char a[4096]; a[0] = *p;\n"
         "return deep(a) + a[1]; }\n" BODY("volatile char c = 0; y[0] = (float)deep(&c);"),
         BOX_FAULT_STACK, 0, 0},
        {BODY("volatile char *p = __builtin_alloca(1 << 24); p[0] = 1;"), BOX_FAULT_STACK, 0, 0},
    };
    struct box_test *test = *state;

    if (!(box_machine(test->box)->features >> BOX_PTRACE & 1))
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct box_end end = run_text(test, cases[i].source);

        assert_int_equal(end.ending, BOX_CRASHED);
        assert_int_equal(end.signal, SIGSEGV);
        assert_true(strlen(end.reason) > 10);
        if (i == 6)
            continue; /* a jump into a buffer: some fault there, and no more is promised */
        if (end.fault != cases[i].fault)
            print_message("%s: %s\n", cases[i].source, end.reason);
        assert_int_equal(end.fault, cases[i].fault);
        assert_int_equal(end.region, cases[i].region);
        assert_int_equal(end.offset, cases[i].offset);
    }
}

static void
crashes_are_named(void **state)
{
    static const struct {
        const char *source, *reason;
        int signal;
    } cases[] = {
        {BODY("volatile int a = 7, z = 0; y[0] = (float)(a / z);"), "division", SIGFPE},
        {BODY("__asm__ volatile(\"ud2\");"), "illegal", SIGILL},
        {BODY("__asm__ volatile(\"hlt\");"), "segmentation", SIGSEGV},
    };
    struct box_test *test = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct box_end end = run_text(test, cases[i].source);

        assert_int_equal(end.ending, BOX_CRASHED);
        assert_int_equal(end.signal, cases[i].signal);
        if (box_machine(test->box)->features >> BOX_PTRACE & 1)
            assert_non_null(strstr(end.reason, cases[i].reason));
    }
}

static void
forbidden_calls_are_named(void **state)
{
    static const struct {
        const char *source, *name;
    } cases[] = {
        {CALL("41, 2, 1, 0, 0, 0, 0"), "socket"},
        {CALL("57, 0, 0, 0, 0, 0, 0"), "fork"},
        {CALL("58, 0, 0, 0, 0, 0, 0"), "vfork"},
        {CALL("56, 17, 0, 0, 0, 0, 0"), "clone"},
        {CALL("59, 0, 0, 0, 0, 0, 0"), "execve"},
        {CALL("62, 1, 9, 0, 0, 0, 0"), "kill"},
        {CALL("101, 16, 1, 0, 0, 0, 0"), "ptrace"},
        {CALL("310, 1, 0, 0, 0, 0, 0"), "process_vm_readv"},
        {CALL("13, 11, 0, 0, 8, 0, 0"), "rt_sigaction"},
        {CALL("35, 0, 0, 0, 0, 0, 0"), "nanosleep"},
        {CALL("2, 0, 0, 0, 0, 0, 0"), "open"},
        {CALL("425, 8, 0, 0, 0, 0, 0"), "io_uring_setup"},
        {CALL("323, 0, 0, 0, 0, 0, 0"), "userfaultfd"},
        {CALL("298, 0, 0, 0, 0, 0, 0"), "perf_event_open"},
        {CALL("321, 0, 0, 0, 0, 0, 0"), "bpf"},
        {CALL("319, 0, 0, 0, 0, 0, 0"), "memfd_create"},
        {CALL("250, 0, 0, 0, 0, 0, 0"), "keyctl"},
        {CALL("317, 1, 0, 0, 0, 0, 0"), "seccomp"},
        {CALL("272, 0x10000000, 0, 0, 0, 0, 0"), "unshare"},
        {CALL("9, 0, 4096, 7, 34, -1, 0"), "mmap"},
        {CALL("10, (long)y & -4096, 4096, 5, 0, 0, 0"), "mprotect"},
        {CALL("329, (long)y & -4096, 4096, 7, 0, 0, 0"), "pkey_mprotect"},
        {CALL("158, 0x1002, 0, 0, 0, 0, 0"), "arch_prctl"},
        {CALL("29, 0, 4096, 0600, 0, 0, 0"), "shmget"},
        {CALL("234, 1, 1, 9, 0, 0, 0"), "tgkill"},
        {CALL("129, 1, 9, 0, 0, 0, 0"), "rt_sigqueueinfo"},
        {CALL("434, 1, 0, 0, 0, 0, 0"), "pidfd_open"},
    };
    struct box_test *test = *state;
    bool traced = box_machine(test->box)->features >> BOX_PTRACE & 1;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct box_end end = run_text(test, cases[i].source);

        if (end.ending != BOX_FORBIDDEN)
            print_message("%s: %s\n", cases[i].name, end.reason);
        assert_int_equal(end.ending, BOX_FORBIDDEN);
        assert_string_equal(end.syscall_name, traced ? cases[i].name : "unknown");
    }
}

/* What is answered with an error: the guest goes on. */
static void
refused_calls_return(void **state)
{
    static const struct {
        const char *source;
        float answer;
    } cases[] = {
        {CALL("257, -100, (long)\"/\", 0, 0, 0, 0"), -1},     /* openat: EPERM */
        {CALL("1, 1, (long)\"x\", 1, 0, 0, 0"), -1},          /* write: EPERM */
        {CALL("435, 0, 0, 0, 0, 0, 0"), -38},                 /* clone3: ENOSYS */
        {CALL("56, 0x50f00, 0, 0, 0, 0, 0"), -11},            /* a thread: EAGAIN */
        {CALL("10, (long)x & -4096, 4096, 3, 0, 0, 0"), -13}, /* write to the input: EACCES */
        {CALL("28, (long)x & -4096, 4096, 9, 0, 0, 0"), -1},  /* MADV_REMOVE: EPERM */
        {CALL("157, 22, 0, 0, 0, 0, 0"), -1},                 /* prctl: EPERM */
        {CALL("9, 0, 1L << 42, 3, 34, -1, 0"), -12},          /* mmap of 4 TB: ENOMEM */
    };
    struct box_test *test = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int object = box_test_object(test, cases[i].source);
        struct box_test_job made;

        box_test_job(test, &made, object, 256);
        box_test_data(test, &made.regions[1])[0] = 99;
        assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
        if (box_test_data(test, &made.regions[1])[0] != cases[i].answer)
            print_message("case %zu: %g\n", i, box_test_data(test, &made.regions[1])[0]);
        assert_true(box_test_data(test, &made.regions[1])[0] == cases[i].answer);
        close(object);
    }
}

static void
early_exit_is_no_end(void **state)
{
    struct box_test *test = *state;
    struct box_end end = run_text(test, CALL("231, 0, 0, 0, 0, 0, 0"));

    assert_int_equal(end.ending, BOX_EXITED);
    assert_int_equal(end.exit_code, 0);
    end = run_text(test, CALL("60, 7, 0, 0, 0, 0, 0"));
    assert_int_equal(end.ending, BOX_EXITED);
    assert_int_equal(end.exit_code, 7);
}

static void
endless_loop_is_ended(void **state)
{
    struct box_test *test = *state;
    struct box_end end = run_text(test, BODY("for (;;) __asm__ volatile(\"\");"));

    assert_int_equal(end.ending, BOX_TIMEOUT);
    assert_non_null(strstr(end.reason, "0.5 s"));
}

static void
memory_bomb_is_refused(void **state)
{
    struct box_test *test = *state;
    struct box_end end =
        run_text(test, "#include <stdlib.h>\n#include <string.h>\n" BODY(
                           "for (long n = 1; n < 64; n++) {\n"
                           "    char *p = malloc(1L << 28); if (!p) { y[0] = (float)n; return; }\n"
                           "    *(volatile char *)p = 1; }"));
    struct box_test_job made;

    box_test_job(test, &made, -1, 256);
    assert_int_equal(end.ending, BOX_DONE);
    assert_true(box_test_data(test, &made.regions[1])[0] < 10);
}

static void
clock_can_be_taken_away(void **state)
{
    struct box_test *test = *state;
    int object = box_test_object(test, BODY("y[0] = (float)__builtin_ia32_rdtsc();"));
    struct box_test_job made;
    struct box_end end;

    box_test_job(test, &made, object, 256);
    assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
    made.job.no_clock = true;
    end = box_test_run(test, &made.job);
    assert_int_equal(end.ending, BOX_CRASHED);
    assert_int_equal(end.signal, SIGSEGV);
    close(object);
}

/* A guest that moves the server to another CPU has not moved the next guest. */
static void
server_cannot_be_moved(void **state)
{
    struct box_test *test = *state;
    char source[1024];
    struct box_test_job made;
    int mover, teller;

    snprintf(source, sizeof source,
             CALL("203, 1, sizeof(long), (long)(unsigned long[]){%luul}, 0, 0, 0"),
             1ul << test->other_cpu);
    mover = box_test_object(test, source);
    teller = box_test_object(
        test, "#define _GNU_SOURCE\n#include <sched.h>\n" BODY("y[0] = (float)sched_getcpu();"));
    box_test_job(test, &made, mover, 256);
    assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
    made.job.object = teller;
    assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
    assert_int_equal((int)box_test_data(test, &made.regions[1])[0], test->cpu);
    close(mover);
    close(teller);
}

/* Regions of many pages, at the offsets that box_stagger() gives, on whatever pages there are. */
static void
large_regions(void **state)
{
    enum { COUNT = 3, BYTES = 4000000 };
    struct box_test *test = *state;
    int object =
        box_test_object(test, "void kernel(const int *a, const int *b, int *c)\n"
                              "{ for (int i = 0; i < 1000000; i++) c[i] = a[i] + b[i]; }\n");
    struct box_region regions[COUNT];
    struct box_arg args[COUNT] = {{0, 0}, {1, 0}, {2, 0}};
    struct box_memory *memory;
    struct box_test_job made;
    int *data[COUNT];
    size_t at = 0;

    assert_int_equal(box_memory_create(test->box, 32 << 20, &memory, test->diags), STATUS_OK);
    for (size_t i = 0; i < COUNT; i++) {
        size_t span = (BYTES + BOX_PAGE - 1) / BOX_PAGE * BOX_PAGE;

        at = box_stagger(at, i);
        regions[i] =
            (struct box_region){memory, at, span, i == 1 ? 0 : span - BYTES, BYTES, i == 2};
        data[i] = (int *)((char *)box_memory_base(memory) + at + regions[i].lead);
        at += span;
        for (int k = 0; k < BYTES / 4; k++)
            data[i][k] = i == 2 ? -1 : k * (int)(i + 1);
    }
    box_test_job(test, &made, object, 256);
    made.job.regions = regions;
    made.job.region_count = COUNT;
    made.job.args = args;
    made.job.arg_count = COUNT;
    assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
    for (int k = 0; k < BYTES / 4; k++)
        assert_true(data[2][k] == 3 * k);
    box_memory_destroy(memory);
    close(object);
}

/* Threads. */

static void
all_cpus(struct box_test *test, struct box_test_job *made, int object)
{
    box_test_job(test, made, object, 256);
    box_test_all_cpus(test, &made->job);
}

static void
threads_are_as_many_as_asked(void **state)
{
    static const char source[] = "#include <omp.h>\n" BODY(
        "int n = 0;\n#pragma omp parallel num_threads(64) reduction(+ : n)\n n += 1;\n"
        "y[0] = (float)n; y[1] = (float)omp_get_max_threads();");
    struct box_test *test = *state;
    int object = box_test_object(test, source);
    struct box_test_job made;

    all_cpus(test, &made, object);
    assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
    assert_int_equal((int)box_test_data(test, &made.regions[1])[0], test->cpu_count);
    assert_int_equal((int)box_test_data(test, &made.regions[1])[1], test->cpu_count);
    box_test_job(test, &made, object, 256);
    assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
    assert_int_equal((int)box_test_data(test, &made.regions[1])[0], 1);
    close(object);
}

/* Filters are per thread: those of the pool must have theirs. */
static void
worker_threads_are_filtered(void **state)
{
    static const char source[] = "#include <omp.h>\n" BODY(
        "\n#pragma omp parallel\n"
        "if (omp_get_thread_num() == omp_get_num_threads() - 1) {\n"
        "long r; __asm__ volatile(\"syscall\" : \"=a\"(r) : \"0\"(121L),\n"
        "\"D\"(0L) : \"rcx\", \"r11\", \"memory\"); y[0] = (float)r; }");
    struct box_test *test = *state;
    int object = box_test_object(test, source);
    struct box_test_job made;
    struct box_end end;

    all_cpus(test, &made, object);
    end = box_test_run(test, &made.job);
    assert_int_equal(end.ending, BOX_FORBIDDEN);
    if (box_machine(test->box)->features >> BOX_PTRACE & 1)
        assert_string_equal(end.syscall_name, "getpgid");
    close(object);
}

static void
worker_stack_overflow_is_named(void **state)
{
    static const char source[] =
        "#include <omp.h>\nstatic int deep(volatile char *p) { volatile char a[4096]; a[0] = *p;\n"
        "return deep(a) + a[1]; }\n" BODY(
            "\n#pragma omp parallel\n"
            "if (omp_get_thread_num() == omp_get_num_threads() - 1) {\n"
            "volatile char c = 0; y[0] = (float)deep(&c); }");
    struct box_test *test = *state;
    int object = box_test_object(test, source);
    struct box_test_job made;
    struct box_end end;

    all_cpus(test, &made, object);
    end = box_test_run(test, &made.job);
    assert_int_equal(end.ending, BOX_CRASHED);
    if (box_machine(test->box)->features >> BOX_PTRACE & 1)
        assert_int_equal(end.fault, BOX_FAULT_STACK);
    close(object);
}

static void
endless_threads_are_ended(void **state)
{
    struct box_test *test = *state;
    int object = box_test_object(
        test, BODY("\n#pragma omp parallel num_threads(8)\nfor (;;) __asm__ volatile(\"\");"));
    struct box_test_job made;

    all_cpus(test, &made, object);
    made.job.limits.wall_seconds = 0.2;
    assert_int_equal(box_test_run(test, &made.job).ending, BOX_TIMEOUT);
    made.job.limits.wall_seconds = 30;
    made.job.limits.cpu_seconds = 1;
    assert_int_equal(box_test_run(test, &made.job).ending, BOX_TIMEOUT);
    close(object);
}

/* Hooks come in order, and the guest has not run before the first stamp. */
struct order {
    char text[8];
    float *y;
    float before;
};

static void
on_prepare(void *context)
{
    strcat(((struct order *)context)->text, "p");
    *((struct order *)context)->y = 5;
}

static void
on_armed(void *context)
{
    struct order *order = context;

    strcat(order->text, "a");
    order->before = *(volatile float *)order->y;
}

static void
on_done(void *context)
{
    strcat(((struct order *)context)->text, "d");
}

static void
hooks_come_in_order(void **state)
{
    struct box_test *test = *state;
    int object = box_test_object(test, BODY("y[0] = 7;"));
    struct box_test_job made;
    struct order order = {{0}, NULL, 0};

    box_test_job(test, &made, object, 256);
    order.y = box_test_data(test, &made.regions[1]);
    made.job.hooks = (struct box_hooks){&order, on_prepare, on_armed, on_done, NULL};
    assert_int_equal(box_test_run(test, &made.job).ending, BOX_DONE);
    assert_string_equal(order.text, "pad");
    assert_true(order.before == 5 && *order.y == 7);
    close(object);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_return),
        cmocka_unit_test(a_sample_ends_with_a_round),
        cmocka_unit_test(arguments_arrive),
        cmocka_unit_test(many_arguments_arrive),
        cmocka_unit_test(many_regions),
        cmocka_unit_test(addresses_are_named),
        cmocka_unit_test(crashes_are_named),
        cmocka_unit_test(forbidden_calls_are_named),
        cmocka_unit_test(refused_calls_return),
        cmocka_unit_test(early_exit_is_no_end),
        cmocka_unit_test(endless_loop_is_ended),
        cmocka_unit_test(memory_bomb_is_refused),
        cmocka_unit_test(clock_can_be_taken_away),
        cmocka_unit_test(server_cannot_be_moved),
        cmocka_unit_test(large_regions),
        cmocka_unit_test(threads_are_as_many_as_asked),
        cmocka_unit_test(worker_threads_are_filtered),
        cmocka_unit_test(worker_stack_overflow_is_named),
        cmocka_unit_test(endless_threads_are_ended),
        cmocka_unit_test(hooks_come_in_order),
    };

    return box_test_as_nobody(cmocka_run_group_tests(tests, box_test_setup, box_test_teardown));
}
