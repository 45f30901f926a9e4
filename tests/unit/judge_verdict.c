/* Verdicts: what is said of right, wrong, broken and lazy kernels, and that it can be repeated. */
#include "../judge/judge_test.h"

#include <time.h>

static const char scale_op[] = "op scale\n"
                               "dim R=6, N=37\n"
                               "in X: f32[R,N]\n"
                               "Y[r,j] = 3 * X[r,j]\n"
                               "out Y\n"
                               "case wide N=100\n"
                               "case small R=1 N=1 check\n";

static const char right[] = "void kernel(const float *restrict X, float *restrict Y)\n"
                            "{\n"
                            "#pragma omp parallel for\n"
                            "    for (int i = 0; i < R * N; i++)\n"
                            "        Y[i] = 3 * X[i];\n"
                            "}\n";

#define KERNEL(body) "void kernel(const float *restrict X, float *restrict Y)\n{\n" body "\n}\n"
#define ALL "for (int i = 0; i < R * N; i++) "

static void
a_right_kernel_is_correct(void **state)
{
    struct judge_test *test = *state;
    struct judge_report report;

    judge_test_task(test, scale_op, 0);
    report = judge_test_expect(test, right, JUDGE_CORRECT);
    assert_int_equal(report.case_count, 3);
    for (size_t i = 0; i < report.case_count; i++) {
        assert_true(report.cases[i].worst <= 1);
        assert_true(report.cases[i].elements > 0);
        assert_int_equal(report.cases[i].timed, i < 2);
    }
    assert_true(report.cases[0].time.median > 0);
    assert_true(report.cases[0].time.low <= report.cases[0].time.median);
    assert_true(report.cases[0].time.high >= report.cases[0].time.median);
    assert_int_equal(report.cases[0].pair_count, 1);
    assert_string_equal(report.cases[0].pairs[0].name, "naive");
    assert_true(report.cases[0].timed_calls_checked > 0);
    assert_true(report.deterministic && report.same_bits);
    assert_string_equal(report.reason, "");
}

static void
an_object_comes_from_the_cache(void **state)
{
    struct judge_test *test = *state;
    const char *text;

    judge_test_task(test, scale_op, 0);
    judge_test_expect(test, right, JUDGE_CORRECT);
    assert_true(judge_test_expect(test, right, JUDGE_CORRECT).from_cache);
    text = arena_printf(test->arena, "/* %ld %ld */\n%s", (long)getpid(), (long)time(NULL), right);
    assert_false(judge_test_expect(test, text, JUDGE_CORRECT).from_cache);
}

/* Three at once: what is right is found built, what is not says so when it is asked for. */
static void
kernels_are_built_ahead(void **state)
{
    struct judge_test *test = *state;
    const char *texts[3] = {
        arena_printf(test->arena, "/* 1 %ld %ld */\n%s", (long)getpid(), (long)time(NULL), right),
        arena_printf(test->arena, "/* 2 %ld %ld */\n%s", (long)getpid(), (long)time(NULL), right),
        "#error no kernel\n"};

    judge_test_task(test, scale_op, 0);
    judge_build_ahead(test->task, "test.c", texts, 3);
    for (unsigned i = 0; i < 2; i++)
        assert_true(judge_test_expect(test, texts[i], JUDGE_CORRECT).from_cache);
    assert_string_not_equal(judge_test_verdict(test, texts[2]).reason, "");
}

static void
wrong_elements_are_described(void **state)
{
    static const struct {
        const char *text, *where, *element, *guess;
    } rows[] = {
        {KERNEL(ALL "Y[i] = 0;"), "every element", "Y[0,0]", "written as 0"},
        {KERNEL(ALL "if (i % N < N - 1) Y[i] = 3 * X[i];"), "the last column (j = 36)", "Y[0,36]",
         NULL},
        {KERNEL("for (int r = 0; r < R; r++) for (int j = 0; j + 8 <= N; j++) "
                "Y[r * N + j] = 3 * X[r * N + j];"),
         "j >= 30", "Y[0,30]", NULL},
        {KERNEL("for (int r = 0; r < R; r++) for (int j = 0; j < N / 8 * 8; j++) "
                "Y[r * N + j] = 3 * X[r * N + j];"),
         "j >= 32", "Y[0,32]", "steps by 8"},
        {KERNEL(ALL "Y[i] = i / N == R - 1 && R > 1 ? 7 : 3 * X[i];"), "the last row (r = 5)",
         "Y[5,0]", NULL},
        {KERNEL(ALL "Y[i] = i % N % 5 == 2 ? 7 : 3 * X[i];"), "every 5th j (from 2)", "Y[0,2]",
         NULL},
        {KERNEL(ALL "Y[i] = i == 77 ? 1e9f : 3 * X[i];"), "r = 2, j = 3", "Y[2,3]", NULL},
        {KERNEL(ALL "{ volatile float h = (_Float16)X[i]; Y[i] = 3 * h; }"), "", "", NULL},
    };
    struct judge_test *test = *state;

    judge_test_task(test, scale_op, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct judge_report report = judge_test_expect(test, rows[i].text, JUDGE_WRONG);
        assert_non_null(report.wrong.tensor);
        assert_string_equal(report.wrong.tensor, "Y");
        if (!strstr(report.wrong.where, rows[i].where))
            print_message("%s\n", report.wrong.where);
        assert_non_null(strstr(report.wrong.where, rows[i].where));
        assert_non_null(strstr(report.wrong.element, rows[i].element));
        assert_true(report.wrong.wrong > 0 && report.wrong.wrong <= report.wrong.elements);
        if (rows[i].guess)
            assert_non_null(strstr(report.wrong.guess, rows[i].guess));
    }
}

static void
crashes_are_explained(void **state)
{
    static const struct {
        const char *text;
        enum judge_status status;
        const char *reason;
        uint32_t line;
    } rows[] = {
        {KERNEL("((volatile float *)X)[0] = 1;"), JUDGE_CRASHED, "writes to input X", 3},
        {KERNEL(ALL "Y[i] = 3 * X[i];\nY[R * N + 1024] = 1;"), JUDGE_CRASHED, "past the end of Y",
         4},
        {KERNEL("Y[-2000] = 1;"), JUDGE_CRASHED, "before the start of Y", 3},
        {KERNEL("*(volatile int *)0 = 1;"), JUDGE_CRASHED, "null pointer", 3},
        {KERNEL("for (volatile int i = 0;; i++) ;"), JUDGE_TIMED_OUT, "no end after", 0},
        {KERNEL("__asm__ volatile(\"syscall\" :: \"a\"(41) : \"rcx\", \"r11\", \"memory\");"),
         JUDGE_REJECTED, "socket", 0},
        {KERNEL("__asm__ volatile(\"syscall\" :: \"a\"(231), \"D\"(0) : \"memory\");"),
         JUDGE_CRASHED, "exit code 0", 0},
        {"int open(const char *, int);\n" KERNEL("Y[0] = open(\"x\", 0);"), JUDGE_REJECTED, "open",
         0},
        {KERNEL("Y[0] = nothing;"), JUDGE_BUILD_FAILED, "nothing", 3},
        {"void kernel(const float *X, double *Y) { Y[0] = X[0]; }\n", JUDGE_BUILD_FAILED, "Y", 1},
        {"", JUDGE_REJECTED, "", 0},
        {"\x7f\x45\x4c\x46\x01", JUDGE_REJECTED, "", 0},
        {"int x;\n", JUDGE_REJECTED, "kernel", 0},
        {"//! flags -fplugin=x\n" KERNEL(""), JUDGE_REJECTED, "-fplugin=x", 1},
    };
    struct judge_test *test = *state;

    judge_test_task(test, scale_op, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct judge_report report = judge_test_expect(test, rows[i].text, rows[i].status);
        if (!strstr(report.reason, rows[i].reason) || (rows[i].line && report.line != rows[i].line))
            print_message("%zu: %s (line %u)\n", i, report.reason, report.line);
        assert_non_null(strstr(report.reason, rows[i].reason));
        if (rows[i].line)
            assert_int_equal(report.line, rows[i].line);
    }
}

/* What is kept from call to call shows: an output that is not computed is cheating, one that is
 * computed from too much is a mistake. */
static void
state_between_calls_is_found(void **state)
{
    struct judge_test *test = *state;

    judge_test_task(test, scale_op, 0);
    judge_test_expect(
        test, "static int calls;\n" KERNEL("if (calls++ > 1) return;\n" ALL "Y[i] = 3 * X[i];"),
        JUDGE_CHEATED);
    judge_test_expect(test,
                      "static float kept[R * N];\nstatic int calls;\n" KERNEL(
                          "if (!calls++) " ALL "kept[i] = 3 * X[i];\n" ALL "Y[i] = kept[i];"),
                      JUDGE_CHEATED);
    judge_test_expect(test, "static float sum;\n" KERNEL(ALL "Y[i] = 3 * X[i] + sum;\nsum += 1;"),
                      JUDGE_WRONG);
}

static void
a_seed_repeats_a_verdict(void **state)
{
    static const char broken[] = KERNEL(ALL "Y[i] = X[i] > 2.5f ? 0 : 3 * X[i];");
    struct judge_test *test = *state;
    struct judge_report first, again, other;

    judge_test_task(test, scale_op, 0x1234abcd);
    first = judge_test_expect(test, broken, JUDGE_WRONG);
    assert_true(first.seed == 0x1234abcd);
    judge_test_task(test, scale_op, 0x1234abcd);
    again = judge_test_expect(test, broken, JUDGE_WRONG);
    assert_string_equal(first.wrong.element, again.wrong.element);
    assert_true(first.wrong.expected == again.wrong.expected);
    assert_true(first.wrong.wrong == again.wrong.wrong);
    judge_test_task(test, scale_op, 0);
    other = judge_test_expect(test, broken, JUDGE_WRONG);
    assert_true(other.seed != first.seed);
}

/* Two outputs, integers, a size that may be anything, no state that would confuse them. */
static void
other_shapes_work(void **state)
{
    struct judge_test *test = *state;
    struct judge_report report;

    judge_test_task(test,
                    "op two\ndim any N=50\nin A: i8[N]\nin B: f32[N]\n"
                    "S[] = sum[i](i32(A[i]))\nY[i] = B[i] + 1\nout S, Y\n",
                    0);
    report =
        judge_test_expect(test,
                          "void kernel(const int8_t *A, const float *B, int32_t *S, float *Y)\n"
                          "{\n*S = 0;\nfor (int i = 0; i < N; i++)\n"
                          "{ *S += A[i]; Y[i] = B[i] + 1; }\n}\n",
                          JUDGE_CORRECT);
    assert_true(report.case_count > 1); /* sizes of the judge's own */
    report = judge_test_verdict(
        test, "void kernel(const int8_t *A, const float *B, int32_t *S, float *Y)\n"
              "{\n*S = 0;\nfor (int i = 0; i < 50; i++)\n"
              "{ *S += A[i]; Y[i] = B[i] + 1; }\n}\n");
    assert_true(report.status == JUDGE_WRONG || report.status == JUDGE_CRASHED);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        JUDGE_TEST(a_right_kernel_is_correct), JUDGE_TEST(an_object_comes_from_the_cache),
        JUDGE_TEST(kernels_are_built_ahead),   JUDGE_TEST(wrong_elements_are_described),
        JUDGE_TEST(crashes_are_explained),     JUDGE_TEST(state_between_calls_is_found),
        JUDGE_TEST(a_seed_repeats_a_verdict),  JUDGE_TEST(other_shapes_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
