/* Windows: times of a kernel that was judged, for races with what the judge cannot run. */
#include "../judge/judge_test.h"

static const char scale_op[] = "op scale\n"
                               "dim N=3000\n"
                               "in X: f32[N]\n"
                               "Y[i] = 3 * X[i]\n"
                               "out Y\n";

#define KERNEL(body) "void kernel(const float *restrict X, float *restrict Y)\n{\n" body "\n}\n"

static struct judge_kernel *
build(struct judge_test *test, const char *text)
{
    struct judge_report report;
    struct judge_kernel *kernel;

    judge_test_must(test, judge_build(test->task, test->arena, "test.c", text, strlen(text),
                                      &kernel, &report, test->diags));
    assert_non_null(kernel);
    return kernel;
}

static void
a_window_has_times(void **state)
{
    enum { MOST = 7 };
    struct judge_test *test = *state;
    struct judge_kernel *kernel;
    struct judge_window *window;
    double us[MOST];
    size_t count;

    judge_test_task(test, scale_op, 0);
    kernel = build(test, KERNEL("for (int i = 0; i < N; i++) Y[i] = 3 * X[i];"));
    judge_test_must(test, judge_window_open(test->task, kernel, 0, &window, test->diags));
    assert_true(judge_window_sets(window) > 0);
    for (size_t round = 0; round < 3; round++) {
        judge_test_must(test, judge_window_take(window, 60, us, MOST, &count, test->diags));
        assert_int_equal(count, MOST); /* long before the time is up */
        for (size_t i = 0; i < count; i++)
            assert_true(us[i] > 0 && us[i] < 1e6);
    }
    judge_test_must(test, judge_window_take(window, 0, us, MOST, &count, test->diags));
    assert_int_equal(count, 1); /* one in any case */
    judge_window_close(window);
    judge_kernel_close(kernel);
}

/* Some samples are checked: one that is wrong does not get far. */
static void
a_wrong_kernel_is_found_out(void **state)
{
    struct judge_test *test = *state;
    struct judge_kernel *kernel;
    struct judge_window *window;
    enum status status = STATUS_OK;
    double us;
    size_t count;

    judge_test_task(test, scale_op, 0);
    kernel = build(test, KERNEL("for (int i = 0; i < N; i++) Y[i] = 4 * X[i];"));
    judge_test_must(test, judge_window_open(test->task, kernel, 0, &window, test->diags));
    for (size_t i = 0; i < 400 && status == STATUS_OK; i++)
        status = judge_window_take(window, 0, &us, 1, &count, test->diags);
    assert_int_equal(status, STATUS_NO);
    judge_window_close(window);
    judge_kernel_close(kernel);
}

static void
one_that_crashes_has_no_window(void **state)
{
    struct judge_test *test = *state;
    struct judge_kernel *kernel;
    struct judge_window *window;

    judge_test_task(test, scale_op, 0);
    kernel = build(test, KERNEL("Y[0] = X[0]; __builtin_trap();"));
    assert_int_equal(judge_window_open(test->task, kernel, 0, &window, test->diags), STATUS_NO);
    assert_null(window);
    judge_window_close(window);
    judge_kernel_close(kernel);
}

/* ---- kernels that remember ---- */

/* Enough to remember all calls of a process. */
#define MEMORY                                       \
    "enum { MOST = 4096 };\n"                        \
    "static uint64_t seen[MOST];\n"                  \
    "static int count;\n"                            \
    "static int\n"                                   \
    "knows(uint64_t key)\n"                          \
    "{\n"                                            \
    "    for (int i = 0; i < count; i++)\n"          \
    "        if (seen[i] == key)\n"                  \
    "            return 1;\n"                        \
    "    seen[count++] = key;\n"                     \
    "    return 0;\n"                                \
    "}\n"                                            \
    "static uint64_t\n"                              \
    "hash(const float *X, int step)\n"               \
    "{\n"                                            \
    "    uint64_t h = 0;\n"                          \
    "    for (int i = 0; i < N; i += step) {\n"      \
    "        uint32_t bits;\n"                       \
    "        memcpy(&bits, &X[i], 4);\n"             \
    "        h = (h ^ bits) * 0x9e3779b97f4a7c15;\n" \
    "    }\n"                                        \
    "    return h;\n"                                \
    "}\n"

#define COMPUTE "for (int i = 0; i < N; i++) Y[i] = 3 * X[i];"

/* One sample in eight is checked, and some attacks are seen in every fourth of these. */
enum { PATIENCE = 400 };

/* What comes of so many samples. */
static enum status
samples_of(struct judge_test *test, const char *text, size_t samples)
{
    struct judge_kernel *kernel;
    struct judge_window *window;
    enum status status = STATUS_OK;
    double us;
    size_t count;

    judge_test_task(test, scale_op, 0);
    kernel = build(test, text);
    judge_test_must(test, judge_window_open(test->task, kernel, 0, &window, test->diags));
    for (size_t i = 0; i < samples && status == STATUS_OK; i++)
        status = judge_window_take(window, 0, &us, 1, &count, test->diags);
    judge_window_close(window);
    judge_kernel_close(kernel);
    return status;
}

/* One that is right in a verdict. On a busy machine a window may have so few rounds, its first call
 * having taken so long, that these kernels see nothing to leave out: then another one is opened. */
static void
is_found_out(struct judge_test *test, const char *text)
{
    enum { WINDOWS = 5 };
    enum status status = STATUS_OK;

    judge_test_task(test, scale_op, 0);
    judge_test_expect(test, text, JUDGE_CORRECT);
    for (size_t i = 0; i < WINDOWS && status == STATUS_OK; i++)
        status = samples_of(test, text, PATIENCE);
    assert_int_equal(status, STATUS_NO);
}

/* Those that would skip the work where they have been given the same before crash instead. (In a
 * verdict they may: zeros come twice.) */
static void
no_inputs_come_again(void **state)
{
    static const char *const keys[] = {"(uintptr_t)X", "hash(X, 500)", "hash(X, 1)"};
    enum { SAMPLES = 40 };
    struct judge_test *test = *state;

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *text = arena_printf(test->arena,
                                        MEMORY KERNEL("    if (knows(%s)) __builtin_trap();\n"
                                                      "    " COMPUTE),
                                        keys[i]);

        assert_int_equal(samples_of(test, text, SAMPLES), STATUS_OK);
    }
}

/* The output of an earlier call lies where it was: in a verdict it is poison. */
static void
what_is_left_over_is_wrong(void **state)
{
    static const char *const kernels[] = {
        MEMORY KERNEL("    if (knows((uintptr_t)Y)) return;\n    " COMPUTE),
        MEMORY KERNEL("    if (knows((uintptr_t)X >> 12)) return;\n    " COMPUTE),
        KERNEL("    uint32_t bits;\n    memcpy(&bits, &Y[N / 2], 4);\n"
               "    if ((bits & 0x7fff0000) != 0x7fa00000) return;\n    " COMPUTE),
    };
    struct judge_test *test = *state;

    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        is_found_out(test, kernels[i]);
}

/* How many calls there are stands in the guest's memory, and outputs of all but the last ones are
 * overwritten. */
static void
early_rounds_count(void **state)
{
    static const char *const kernels[] = {
        /* nothing but the second half */
        KERNEL("    const uint32_t *table = (const uint32_t *)0x100000100000;\n"
               "    static uint32_t call;\n"
               "    if (table[3] > 64 && 2 * call++ < table[3]) return;\n    " COMPUTE),
        /* the first round and the second half */
        MEMORY KERNEL(
            "    const uint32_t *table = (const uint32_t *)0x100000100000;\n"
            "    static uint32_t call;\n"
            "    if (knows((uintptr_t)Y) && 2 * call++ < table[3]) return;\n    " COMPUTE),
    };
    struct judge_test *test = *state;

    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        is_found_out(test, kernels[i]);
}

/* All is done, it says in its first call, and goes on. */
static void
an_early_end_is_seen(void **state)
{
    static const char text[] =
        KERNEL("    const uint32_t *table = (const uint32_t *)0x100000100000;\n"
               "    uint32_t *done = (uint32_t *)0x1000000000c0;\n"
               "    if (table[3] > 64 && !*done) {\n"
               "        long result;\n"
               "        *done = 1;\n"
               "        __asm__ volatile(\"syscall\" : \"=a\"(result)\n"
               "                         : \"0\"(202l), \"D\"(done), \"S\"(1l), \"d\"(1l)\n"
               "                         : \"rcx\", \"r11\", \"memory\");\n"
               "    }\n    " COMPUTE);

    is_found_out(*state, text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_window_has_times, judge_test_setup, judge_test_teardown),
        cmocka_unit_test_setup_teardown(a_wrong_kernel_is_found_out, judge_test_setup,
                                        judge_test_teardown),
        cmocka_unit_test_setup_teardown(no_inputs_come_again, judge_test_setup,
                                        judge_test_teardown),
        cmocka_unit_test_setup_teardown(what_is_left_over_is_wrong, judge_test_setup,
                                        judge_test_teardown),
        cmocka_unit_test_setup_teardown(early_rounds_count, judge_test_setup, judge_test_teardown),
        cmocka_unit_test_setup_teardown(an_early_end_is_seen, judge_test_setup,
                                        judge_test_teardown),
        cmocka_unit_test_setup_teardown(one_that_crashes_has_no_window, judge_test_setup,
                                        judge_test_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
