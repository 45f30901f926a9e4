/* gcc's own messages about a wrong `kernel`, in terms of the task. */
#include "target_unit.h"

#define TASK                                                                                \
    "dim R=4, N=10\nin X: f32[R,N]\nin B: bf16[2*N]\nY[r] = sum[j:N](X[r,j]*B[j])\nK[r] = " \
    "argmax[j](X[r,j])\nout Y, K\n"

/* What target_explain() makes of the messages that gcc has for this text; "" for nothing. */
static const char *
explained(struct unit *unit, const char *task, const char *text, uint32_t *line)
{
    const struct program *program = program_of(unit, task);
    struct target_kernel kernel = kernel_of(unit, program, text);
    static const char *const more[] = {"-fsyntax-only", NULL};
    const char *err;
    struct target_fault fault;
    int code =
        gcc_run(unit, arguments_with(unit, &kernel, more), source_of(unit, program, &kernel), &err);
    bool known = target_explain(unit->arena, cpu(), program, &kernel, err, &fault);

    if (code == 0 && known)
        fail_msg("gcc is content with: %s", text);
    *line = fault.line;
    return known ? fault.message : "";
}

#define EXPLAINED(text, at, says)                                                             \
    do {                                                                                      \
        uint32_t line_;                                                                       \
        const char *message_ = explained(*state, TASK, text, &line_);                         \
        if (strcmp(message_, says) || line_ != (at))                                          \
            fail_msg("%s\nis answered by: %u: %s\nand not by: %u: %s", text, line_, message_, \
                     (unsigned)(at), says);                                                   \
    } while (0)

static void
right_ones_need_no_explanation(void **state)
{
    EXPLAINED("void kernel(const float *X, const bf16 *B, float *Y, int32_t *K) {}", 0, "");
    EXPLAINED("typedef float vec;\nvoid kernel(const vec *restrict a, const uint16_t b[],\n"
              "float c[R], int *const d) {}",
              0, "");
    EXPLAINED("void kernel(const float *X, const bf16 *B, float *Y, int32_t *K) { oops(); }", 0,
              "");
}

static void
the_number_of_parameters(void **state)
{
    EXPLAINED("\nvoid kernel(const float *X, float *Y) {}", 2,
              "kernel has 2 parameters, the task wants (const float *X, const bf16 *B, float *Y, "
              "int32_t *K)");
    EXPLAINED("void kernel(const float *X, const bf16 *B, float *Y, int32_t *K, int n) {}", 1,
              "kernel has 5 parameters, the task wants (const float *X, const bf16 *B, float *Y, "
              "int32_t *K)");
    EXPLAINED("void kernel(float *X) {}", 1,
              "kernel has 1 parameter, the task wants (const float *X, const bf16 *B, float *Y, "
              "int32_t *K)");
    EXPLAINED("void kernel(void) {}", 1,
              "kernel has 0 parameters, the task wants (const float *X, const bf16 *B, float *Y, "
              "int32_t *K)");
    EXPLAINED("void kernel() {}", 1,
              "kernel has 0 parameters, the task wants (const float *X, const bf16 *B, float *Y, "
              "int32_t *K)");
}

static void
the_type_of_a_parameter(void **state)
{
    EXPLAINED("void kernel(const float *X, const bf16 *B, double *out, int32_t *K) {}", 1,
              "parameter 3 of kernel, out, is double *; the task wants float * for Y, f32[R]");
    EXPLAINED("void kernel(float *X, const bf16 *B, float *Y, int32_t *K) {}", 1,
              "parameter 1 of kernel, X, is float *; the task wants const float * for X, f32[R,N]");
    EXPLAINED("void kernel(const float *X, const int16_t *b, float *Y, int32_t *K) {}", 1,
              "parameter 2 of kernel, b, is const int16_t *; the task wants const bf16 * for B, "
              "bf16[2*N]");
    EXPLAINED(
        "void kernel(const float X[R][N], const bf16 *B, float *Y, int32_t *K) {}", 1,
        "parameter 1 of kernel, X, is const float (*)[10]; the task wants const float * for X, "
        "f32[R,N]");
    EXPLAINED("void kernel(const float *X, const bf16 *B, float *Y, int64_t *K) {}", 1,
              "parameter 4 of kernel, K, is int64_t *; the task wants int32_t * for K, i32[R]");
    EXPLAINED(
        "void kernel(const float *X, const bf16 *B, void (*f)(int, int), int32_t *K) {}", 1,
        "parameter 3 of kernel, f, is void (*)(int, int); the task wants float * for Y, f32[R]");
}

static void
other_mistakes(void **state)
{
    EXPLAINED("int kernel(const float *X, const bf16 *B, float *Y, int32_t *K) { return 0; }", 1,
              "kernel returns int; it must return void");
    EXPLAINED("static void kernel(const float *X, const bf16 *B, float *Y, int32_t *K) {}", 1,
              "kernel is static, so it cannot be called; remove the word");
    EXPLAINED("int kernel;", 1,
              "kernel is not declared as the task wants it: void kernel(const float *X, const bf16 "
              "*B, float *Y, int32_t *K)");
}

static void
many_parameters_are_counted(void **state)
{
    struct unit *unit = *state;
    struct buf task = buf_in(unit->arena);
    uint32_t line;

    buf_puts(&task, "in A0");
    for (int i = 1; i < 12; i++)
        buf_printf(&task, ", A%d", i);
    buf_puts(&task, ": f32[4]\nY[i] = A0[i]");
    for (int i = 1; i < 12; i++)
        buf_printf(&task, "+A%d[i]", i);
    buf_puts(&task, "\nout Y\n");
    assert_string_equal(
        explained(unit, task.data, "void kernel(void) {}", &line),
        "kernel has 0 parameters, the task wants 13; hone contract cpu FILE.op prints them");
}

/* Messages of older compilers, other locales, other errors, and rubbish. */
static void
other_messages(void **state)
{
    struct unit *unit = *state;
    const struct program *program = program_of(unit, TASK);
    struct target_kernel kernel = kernel_of(unit, program, "void kernel(float *a, int n) {}");
    struct target_fault fault;

#define SAYS(text) target_explain(unit->arena, cpu(), program, &kernel, text, &fault)
    assert_false(SAYS(""));
    assert_false(SAYS("k.c:3:4: error: 'x' undeclared\n"));
    assert_true(SAYS("k.c:7:6: error: conflicting types for 'kernel'\n"));
    assert_int_equal(fault.line, 7);
    assert_non_null(strstr(fault.message, "not declared as the task wants it"));
    assert_true(
        SAYS("a:b/k.c:9:6: error: conflicting types for \xe2\x80\x98kernel\xe2\x80\x99; have "
             "\xe2\x80\x98void(float *)\xe2\x80\x99\n"));
    assert_int_equal(fault.line, 9);
    assert_non_null(strstr(fault.message, "kernel has 1 parameter,"));
    assert_true(SAYS("error: conflicting types for 'kernel'; have 'void("));
    assert_int_equal(fault.line, 0);
    assert_true(SAYS("error: conflicting types for 'kernel'; have '"));
    assert_true(SAYS("error: conflicting types for 'kernel'; have ')))'"));
    assert_true(SAYS("error: conflicting types for 'kernel'; have 'void(a, b, c, d)' {aka '"));
    assert_true(SAYS("1:99999999999999999999: error: number of arguments doesn't match prototype"));
    assert_non_null(strstr(fault.message, "kernel has 2 parameters"));
#undef SAYS
}

/* Of a text that is made to be expensive only its size may cost. */
static void
a_million_parameters(void **state)
{
    struct unit *unit = *state;
    const struct program *program = program_of(unit, TASK);
    struct buf text = buf_in(unit->arena);
    struct target_fault fault;

    buf_puts(&text, "void kernel(int a");
    for (int i = 1; i < 1000000; i++)
        buf_puts(&text, ",a");
    buf_puts(&text, ") {}");
    struct target_kernel kernel = kernel_of(unit, program, text.data);
    size_t before = arena_used(unit->arena);
    assert_true(target_explain(unit->arena, cpu(), program, &kernel,
                               "k.c:1:1: error: number of arguments doesn't match prototype",
                               &fault));
    assert_non_null(strstr(fault.message, "kernel has 1000000 parameters"));
    assert_in_range(arena_used(unit->arena) - before, 0, 100 << 20);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(right_ones_need_no_explanation), UNIT_TEST(the_number_of_parameters),
        UNIT_TEST(the_type_of_a_parameter),        UNIT_TEST(other_mistakes),
        UNIT_TEST(many_parameters_are_counted),    UNIT_TEST(other_messages),
        UNIT_TEST(a_million_parameters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
