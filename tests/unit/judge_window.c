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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_window_has_times, judge_test_setup, judge_test_teardown),
        cmocka_unit_test_setup_teardown(a_wrong_kernel_is_found_out, judge_test_setup,
                                        judge_test_teardown),
        cmocka_unit_test_setup_teardown(one_that_crashes_has_no_window, judge_test_setup,
                                        judge_test_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
