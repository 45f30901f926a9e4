/* Every system call number, by each of the three ways into the kernel of x86, from inside the run
 * jail with all arguments zero, against a table of what must happen. The table is written here by
 * hand and on purpose does not come from the filter's own. */
#include "../box/box_test.h"

#include <signal.h>

enum way { NATIVE, X32, I386, WAYS };

static const char probe[] =
    "void kernel(const int *in, int *out)\n"
    "{\n"
    "    long number = in[1], result;\n"
    "    if (in[0] == 2)\n"
    "        __asm__ volatile(\"int $0x80\" : \"=a\"(result) : \"0\"(number), \"b\"(0), \"c\"(0),\n"
    "                         \"d\"(0), \"S\"(0), \"D\"(0) : \"memory\", \"r8\", \"r9\", \"r10\", "
    "\"r11\");\n"
    "    else {\n"
    "        register long r10 __asm__(\"r10\") = 0, r8 __asm__(\"r8\") = 0, r9 __asm__(\"r9\") = "
    "0;\n"
    "        if (in[0] == 1) number |= 0x40000000;\n"
    "        __asm__ volatile(\"syscall\" : \"=a\"(result) : \"0\"(number), \"D\"(0), \"S\"(0), "
    "\"d\"(0),\n"
    "                         \"r\"(r10), \"r\"(r8), \"r\"(r9) : \"rcx\", \"r11\", \"memory\");\n"
    "    }\n"
    "    out[0] = (int)result;\n"
    "}\n";

/* Calls after which the guest goes on, whatever they return. */
static const char *const go_on[] = {"futex",
                                    "sched_yield",
                                    "madvise",
                                    "munmap",
                                    "brk",
                                    "mprotect",
                                    "clone3",
                                    "set_robust_list",
                                    "rseq",
                                    "rt_sigprocmask",
                                    "restart_syscall",
                                    "sched_getaffinity",
                                    "sched_setaffinity",
                                    "gettid",
                                    "getpid",
                                    "mremap",
                                    "openat",
                                    "ioctl",
                                    "write",
                                    "writev",
                                    "prlimit64",
                                    "prctl",
                                    "getrandom",
                                    "sysinfo",
                                    "clock_gettime",
                                    "getcpu",
                                    NULL};
static const char *const refused_with[] = {
    "mremap",    "openat",  "ioctl",         "write",  "writev", "prlimit64", "prctl",
    "getrandom", "sysinfo", "clock_gettime", "getcpu", "clone3", NULL};

static bool
on(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

static void
check_native(int number, const struct box_end *end, int result)
{
    const char *name = box_syscall_name(number);

    if (strcmp(name, "exit") == 0 || strcmp(name, "exit_group") == 0) {
        assert_int_equal(end->ending, BOX_EXITED);
    } else if (strcmp(name, "rt_sigreturn") == 0) {
        assert_int_equal(end->ending, BOX_CRASHED); /* there is no signal to return from */
    } else if (number == 335 || number == 336) {
        /* uretprobe and uprobe, which newer kernels do not filter: they serve code that the kernel
         * itself has placed, and fail or kill whoever else calls. */
        assert_true(end->ending == BOX_CRASHED || end->ending == BOX_FORBIDDEN ||
                    (end->ending == BOX_DONE && result < 0));
    } else if (on(name, go_on)) {
        assert_int_equal(end->ending, BOX_DONE);
        if (on(name, refused_with))
            assert_true(result < 0);
    } else {
        if (end->ending != BOX_FORBIDDEN)
            print_message("%d (%s): %s %s\n", number, name, box_ending_name(end->ending),
                          end->reason);
        assert_int_equal(end->ending, BOX_FORBIDDEN);
    }
}

static void
check_foreign(enum way way, int number, const struct box_end *end)
{
    /* A kernel without the 32-bit interface does not know the instruction. */
    if (way == I386 && end->ending == BOX_CRASHED && end->signal == SIGSEGV)
        return;
    if (end->ending != BOX_FORBIDDEN)
        print_message("%s %d: %s\n", way == X32 ? "x32" : "i386", number, end->reason);
    assert_int_equal(end->ending, BOX_FORBIDDEN);
}

static void
try_all(struct box_test *test, enum way way, int first, int last)
{
    bool traced = box_machine(test->box)->features >> BOX_PTRACE & 1;
    int object = box_test_object(test, probe);
    struct box_test_job made;
    int *in, *out;

    box_test_job(test, &made, object, 256);
    in = (int *)box_test_data(test, &made.regions[0]);
    out = (int *)box_test_data(test, &made.regions[1]);
    for (int number = first; number <= last; number++) {
        struct box_end end;

        in[0] = (int)way;
        in[1] = number;
        out[0] = 12345;
        end = box_test_run(test, &made.job);
        if (way == NATIVE)
            check_native(number, &end, out[0]);
        else
            check_foreign(way, number, &end);
        if (end.ending == BOX_FORBIDDEN && traced)
            assert_int_equal(end.syscall & 0x3fffffff, number);
    }
    close(object);
}

static void
native_calls(void **state)
{
    try_all(*state, NATIVE, 0, 480);
    try_all(*state, NATIVE, 1023, 1025);
    try_all(*state, NATIVE, 0x3ffffffe, 0x3fffffff);
}

static void
x32_calls(void **state)
{
    try_all(*state, X32, 0, 470);
    try_all(*state, X32, 512, 550);
}

static void
i386_calls(void **state)
{
    try_all(*state, I386, 0, 470);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(native_calls),
        cmocka_unit_test(x32_calls),
        cmocka_unit_test(i386_calls),
    };

#if !defined(__x86_64__)
    (void)tests;
    printf("1..1\nok 1 - these ways into the kernel are those of x86\n");
    return 0;
#else
    return cmocka_run_group_tests(tests, box_test_setup, box_test_teardown);
#endif
}
