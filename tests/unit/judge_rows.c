/* Where the reference evaluates some rows only: nobody knows which, and what is not computed in the
 * others is seen all the same. */
#include "../judge/judge_test.h"

static const char rows_op[] = "op rows\n"
                              "dim R=96, N=200, K=40\n"
                              "in A: f32[R,K]\n"
                              "in B: f32[K,N]\n"
                              "Y[r,j] = tanh(sum[k](A[r,k]*B[k,j]))\n"
                              "out Y\n";

#define KERNEL(when, value)                                                              \
    "#include <math.h>\n"                                                                \
    "void kernel(const float *restrict A, const float *restrict B, float *restrict Y)\n" \
    "{\n    for (int r = 0; r < R; r++)\n        for (int j = 0; j < N; j++) {\n"        \
    "            float s = 0;\n            for (int k = 0; k < K; k++)\n"                \
    "                s += A[r * K + k] * B[k * N + j];\n            if (" when ")\n"     \
    "                Y[r * N + j] = " value ";\n        }\n}\n"

static void
open_rows(struct judge_test *test, double enough, uint64_t seed)
{
    struct judge_setup setup = {.target = target_find("cpu"),
                                .effort = JUDGE_QUICK,
                                .no_baseline = true,
                                .seeded = true,
                                .seed = seed,
                                .enough = enough};
    judge_task_close(test->task);
    test->task = NULL;
    setup.lang = lang_parse(test->arena, "test.op", rows_op, strlen(rows_op), test->diags);
    judge_test_must(test, judge_task_open(test->judge, &setup, &test->task, test->diags));
}

static const double few = 1e-9; /* no reference is as short */

static void
a_right_kernel_is_right(void **state)
{
    struct judge_test *test = *state;
    open_rows(test, few, 1);
    struct judge_report some = judge_test_expect(test, KERNEL("1", "tanhf(s)"), JUDGE_CORRECT);
    open_rows(test, 0, 1);
    struct judge_report all = judge_test_expect(test, KERNEL("1", "tanhf(s)"), JUDGE_CORRECT);
    assert_true(some.cases[0].elements > 0);
    assert_true(some.cases[0].elements < all.cases[0].elements / 10);
}

/* Whichever rows are looked at closely. */
static void
a_row_that_is_not_computed_is_seen(void **state)
{
    struct judge_test *test = *state;
    for (uint64_t seed = 1; seed < 5; seed++) {
        open_rows(test, few, seed);
        judge_test_expect(test, KERNEL("1", "r == 37 ? 0 : tanhf(s)"), JUDGE_WRONG);
        judge_test_expect(test, KERNEL("1", "r % 2 ? tanhf(s) : tanhf(s / 2)"), JUDGE_WRONG);
        struct judge_report report =
            judge_test_expect(test, KERNEL("r != 95", "tanhf(s)"), JUDGE_WRONG);
        assert_true(report.wrong.unwritten);
    }
}

/* The wrong element is named by its place in the whole. */
static void
a_row_is_named_by_its_number(void **state)
{
    struct judge_test *test = *state;
    open_rows(test, few, 3);
    struct judge_report report =
        judge_test_expect(test, KERNEL("1", "r >= 60 && j == 5 ? 7 : tanhf(s)"), JUDGE_WRONG);
    int row, column;
    assert_int_equal(sscanf(report.wrong.element, "Y[%d,%d]", &row, &column), 2);
    assert_int_equal(report.wrong.got, 7);
    assert_true(row >= 60 && column == 5);
}

/* Roundings are judged in rows that nobody knows: one that is too coarse everywhere is seen. */
static void
a_coarse_rounding_is_seen(void **state)
{
    struct judge_test *test = *state;
    open_rows(test, few, 2);
    judge_test_expect(test, KERNEL("1", "tanhf(s) * (1 + 0x1p-15f)"), JUDGE_WRONG);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        JUDGE_TEST(a_right_kernel_is_right),
        JUDGE_TEST(a_row_that_is_not_computed_is_seen),
        JUDGE_TEST(a_row_is_named_by_its_number),
        JUDGE_TEST(a_coarse_rounding_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
