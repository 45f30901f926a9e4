/* Inputs and sizes that somebody proposes join the judge's own, and spoil nothing. */
#include "../judge/judge_test.h"

static const char scale_op[] = "op scale\n"
                               "dim R=6\n"
                               "dim any N=37\n"
                               "in X: f32[R,N]\n"
                               "in Z: f32[R,N] from 0 to 1\n"
                               "Y[r,j] = 3 * X[r,j] + Z[r,j]\n"
                               "out Y\n";

#define KERNEL(value)                                                                    \
    "void kernel(const float *restrict X, const float *restrict Z, float *restrict Y)\n" \
    "{\n    for (int i = 0; i < R * N; i++)\n        Y[i] = " value ";\n}\n"

static void
open_with(struct judge_test *test, const struct judge_extra *extras, size_t count)
{
    struct judge_setup setup = {.target = target_find("cpu"),
                                .effort = JUDGE_QUICK,
                                .no_baseline = true,
                                .seeded = true,
                                .seed = 7,
                                .extras = extras,
                                .extra_count = count};
    judge_task_close(test->task);
    test->task = NULL;
    setup.lang = lang_parse(test->arena, "test.op", scale_op, strlen(scale_op), test->diags);
    judge_test_must(test, judge_task_open(test->judge, &setup, &test->task, test->diags));
}

/* Wrong where an input is exactly 64, which no draw ever is. */
static void
a_pattern_shows_what_no_draw_does(void **state)
{
    struct judge_test *test = *state;
    static const char weak[] = KERNEL("X[i] == 64 ? 0 : 3 * X[i] + Z[i]");
    static const struct judge_extra pattern = {"X[a,b] = if(a == 2 && b == 5, 64, 0.5)", ""};
    open_with(test, NULL, 0);
    judge_test_expect(test, weak, JUDGE_CORRECT);
    open_with(test, &pattern, 1);
    struct judge_report report = judge_test_expect(test, weak, JUDGE_WRONG);
    assert_string_equal(report.wrong.element, "Y[2,5]");
    assert_non_null(strstr(report.wrong.kinds, pattern.pattern));
    judge_test_expect(test, KERNEL("3 * X[i] + Z[i]"), JUDGE_CORRECT);
}

static void
sizes_are_a_case_of_their_own(void **state)
{
    struct judge_test *test = *state;
    static const char weak[] = KERNEL("N == 17 ? 0 : 3 * X[i] + Z[i]");
    static const struct judge_extra sizes = {"", "N=17"};
    static const struct judge_extra both = {"X[a,b] = 64", "N=18"};
    open_with(test, &sizes, 1);
    struct judge_report report = judge_test_expect(test, weak, JUDGE_WRONG);
    assert_string_equal(report.case_name, "N=17");
    open_with(test, &both, 1); /* the pattern is for these sizes alone */
    judge_test_expect(test, KERNEL("N != 18 && X[i] == 64 ? 0 : 3 * X[i] + Z[i]"), JUDGE_CORRECT);
    judge_test_expect(test, KERNEL("N == 18 && X[i] == 64 ? 0 : 3 * X[i] + Z[i]"), JUDGE_WRONG);
}

static void
values_stay_in_their_domain(void **state)
{
    struct judge_test *test = *state;
    static const struct judge_extra beyond = {"Z[a,b] = 100", ""};
    open_with(test, &beyond, 1);
    judge_test_expect(test, KERNEL("Z[i] > 1 ? 0 : 3 * X[i] + Z[i]"), JUDGE_CORRECT);
}

static void
what_cannot_be_read_is_left_out(void **state)
{
    struct judge_test *test = *state;
    static const struct judge_extra none[] = {{"W[i] = 1", ""}, {"X = 1", ""}, {"", "R=3"}};
    open_with(test, none, 3);
    judge_test_expect(test, KERNEL("3 * X[i] + Z[i]"), JUDGE_CORRECT);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        JUDGE_TEST(a_pattern_shows_what_no_draw_does),
        JUDGE_TEST(sizes_are_a_case_of_their_own),
        JUDGE_TEST(values_stay_in_their_domain),
        JUDGE_TEST(what_cannot_be_read_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
