/* Patterns and sizes that somebody proposes: what they give, and what is refused with which words.
 */
#include "unit.h"

#include "task/task.h"

#include <string.h>

static const char norm_op[] = "op norm\n"
                              "dim R=3\n"
                              "dim any N=5\n"
                              "in X: f32[R,N]\n"
                              "in I: i32[R]\n"
                              "in P: f32[R,N] as softmax\n"
                              "Y[r] = sum[j](X[r,j]*P[r,j]) + X[r,I[r]]\n"
                              "out Y\n";

static struct program *
program_of(struct unit *unit)
{
    struct lang *lang = lang_parse(unit->arena, "t.op", norm_op, strlen(norm_op), unit->diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, unit->diags) : NULL;
    if (program == NULL)
        fail_msg("%s", unit_printed(unit, false));
    return program;
}

static void
statements_give_inputs(void **state)
{
    struct unit *unit = *state;
    void *inputs[3];
    assert_int_equal(task_pattern(unit->arena, program_of(unit),
                                  "X[i,j] = if(i == 1, 64, j - N) ; I[a] = 100*a", inputs,
                                  unit->diags),
                     STATUS_OK);
    const float *x = inputs[0];
    assert_true(x[0] == -5 && x[4] == -1 && x[5] == 64 && x[10] == -5);
    const int *index = inputs[1];
    assert_true(index[0] == 0 && index[1] == 4); /* a subscript stays in its dimension */
    assert_null(inputs[2]);
}

static void
others_are_refused(void **state)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"X = 1", "write one statement such as"},
        {"X[i,j] = ", "write one statement such as"},
        {"W[i] = 1", "no input of that name"},
        {"X[i] = 1", "no input of that name"},
        {"X[i,j] = 1 reference \"/tmp/x.c\" tolerance 1 1", "no pattern"},
        {"use \"x.op\"", "no pattern"},
        {"X[i,j] = 1 in Z: f32[3]", "more than one statement"},
        {"X[i,j] = Q[i]", "Q"},
        {"P[i,j] = 1", "a form of its own"},
        {"X[i,j] = sum[a:100000,b:100000](a*b*1.0)", "operations"},
        {"X[i,j] = sqrt(0.0 - 1.0)", "no numbers"},
    };
    struct unit *unit = *state;
    void *inputs[3];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct diags *diags = diags_create(unit->arena, 4);
        enum status status =
            task_pattern(unit->arena, program_of(unit), rows[i].text, inputs, diags);
        if (status != STATUS_INPUT || strstr(diags_get(diags, 0)->message, rows[i].words) == NULL)
            fail_msg("%s: %d: %s", rows[i].text, status,
                     diags_count(diags) ? diags_get(diags, 0)->message : "");
    }
}

static void
sizes_are_read(void **state)
{
    struct unit *unit = *state;
    struct lang_size sizes[3];
    size_t count;
    const char *const good[] = {"N=7", "N: 7", " {N=7}, "};
    const char *const bad[] = {"R=2", "N=0", "N=11", "N=", "N", "N=7 N=8 N=9", "7"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(
            task_sizes(unit->arena, program_of(unit), good[i], sizes, &count, unit->diags),
            STATUS_OK);
        assert_true(count == 1 && sizes[0].size == 7);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(task_sizes(unit->arena, program_of(unit), bad[i], sizes, &count,
                                    diags_create(unit->arena, 1)),
                         STATUS_INPUT);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(statements_give_inputs),
        UNIT_TEST(others_are_refused),
        UNIT_TEST(sizes_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
