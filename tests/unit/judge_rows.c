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
open_program(struct judge_test *test, const char *op, enum judge_effort effort, double enough,
             uint64_t seed)
{
    struct judge_setup setup = {.target = target_find("cpu"),
                                .effort = effort,
                                .no_baseline = true,
                                .seeded = true,
                                .seed = seed,
                                .enough = enough};
    judge_task_close(test->task);
    test->task = NULL;
    setup.lang = lang_parse(test->arena, "test.op", op, strlen(op), test->diags);
    judge_test_must(test, judge_task_open(test->judge, &setup, &test->task, test->diags));
}

static void
open_rows(struct judge_test *test, double enough, uint64_t seed)
{
    open_program(test, rows_op, JUDGE_QUICK, enough, seed);
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

/* One element in the last row or in the first, as where a tail is forgotten. */
static void
the_ends_are_looked_at(void **state)
{
    struct judge_test *test = *state;
    for (uint64_t seed = 1; seed < 5; seed++) {
        open_rows(test, few, seed);
        judge_test_expect(test, KERNEL("1", "r == 95 && j == 199 ? 0 : tanhf(s)"), JUDGE_WRONG);
        judge_test_expect(test, KERNEL("1", "r == 0 && j == 0 ? 0 : tanhf(s)"), JUDGE_WRONG);
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

/* A kernel can know that it is timed: its time limit is another one. Here it leaves rows out then.
 */
static void
timed_calls_are_looked_at(void **state)
{
    struct judge_test *test = *state;
    static const char lazy[] =
        "#include <math.h>\n"
        "void kernel(const float *restrict A, const float *restrict B, float *restrict Y)\n"
        "{\n    const uint64_t *job = (const uint64_t *)(uintptr_t)0x100000100000;\n"
        "    for (int r = 0; r < R; r++)\n        for (int j = 0; j < N; j++) {\n"
        "            float s = 0;\n"
        "            for (int k = 0; k < K && (job[9] >= 2000000 || r % 3); k++)\n"
        "                s += A[r * K + k] * B[k * N + j];\n"
        "            Y[r * N + j] = tanhf(s);\n        }\n}\n";
    for (uint64_t seed = 1; seed < 5; seed++) {
        open_program(test, rows_op, JUDGE_NORMAL, few, seed);
        struct judge_report report = judge_test_verdict(test, lazy);
        assert_int_not_equal(report.status, JUDGE_CORRECT);
        assert_non_null(strstr(report.reason, "when it was timed"));
    }
}

/* What all results have in common is no result: an offset hides nothing. */
static void
an_offset_hides_nothing(void **state)
{
    struct judge_test *test = *state;
    static const char op[] = "op rows\ndim R=96, N=200, K=40\nin A: f32[R,K]\nin B: f32[K,N]\n"
                             "Y[r,j] = 100 + 0.01*sum[k](A[r,k]*B[k,j])\nout Y\n";
    open_program(test, op, JUDGE_QUICK, few, 1);
    judge_test_expect(test, KERNEL("1", "100 + 0.01f * s"), JUDGE_CORRECT);
    judge_test_expect(test, KERNEL("1", "r % 4 ? 100 + 0.01f * s : 100"), JUDGE_WRONG);
}

/* What is rounded to a few bits on the way is far from its meaning, and not from everything. */
static void
a_coarse_stage_hides_nothing(void **state)
{
    struct judge_test *test = *state;
    static const char op[] = "op rows\ndim R=96, N=200, K=40\nin A: f32[R,K]\nin B: f32[K,N]\n"
                             "S[r,j]: bf16 = sum[k](A[r,k]*B[k,j])\nY[r,j] = 3 * S[r,j]\nout Y\n";
    open_program(test, op, JUDGE_QUICK, few, 1);
    judge_test_expect(test, KERNEL("1", "3 * f32_of_bf16(bf16_of_f32(s))"), JUDGE_CORRECT);
    judge_test_expect(test, KERNEL("1", "r % 4 ? 3 * f32_of_bf16(bf16_of_f32(s)) : 0"),
                      JUDGE_WRONG);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        JUDGE_TEST(a_right_kernel_is_right),   JUDGE_TEST(a_row_that_is_not_computed_is_seen),
        JUDGE_TEST(the_ends_are_looked_at),    JUDGE_TEST(a_row_is_named_by_its_number),
        JUDGE_TEST(a_coarse_rounding_is_seen), JUDGE_TEST(timed_calls_are_looked_at),
        JUDGE_TEST(an_offset_hides_nothing),   JUDGE_TEST(a_coarse_stage_hides_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
