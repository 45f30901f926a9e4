/* The C library: what it tells, what it refuses, and that no memory is an answer. */
#include "libhone/libhone.h"
#include "base/fault.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>

static const char program[] = "op scale\n"
                              "dim N=3\n"
                              "in X: f32[N]\n"
                              "in T: i32[] from 0 to N-1\n"
                              "Y[i] = 2*X[i] + 1\n"
                              "Z[] = X[T[]]\n"
                              "out Y, Z\n"
                              "case wide N=5\n";

static struct hone_task *
open_program(void)
{
    struct hone_task *task;
    assert_int_equal(hone_parse("test.op", program, strlen(program), &task), HONE_OK);
    return task;
}

static void
a_task_is_described(void **state)
{
    struct hone_task *task = open_program();
    struct hone_tensor tensor;
    (void)state;
    assert_string_equal(hone_name(task), "scale");
    assert_int_equal(strlen(hone_hash(task)), 64);
    assert_int_equal(hone_case_count(task), 2);
    assert_string_equal(hone_case_name(task, 0), "default");
    assert_string_equal(hone_case_name(task, 1), "wide");
    assert_null(hone_case_name(task, 2));
    assert_int_equal(hone_input_count(task), 2);
    assert_int_equal(hone_output_count(task), 2);
    assert_int_equal(hone_input(task, 1, 0, &tensor), HONE_OK);
    assert_string_equal(tensor.name, "X");
    assert_string_equal(tensor.dtype, "f32");
    assert_int_equal(tensor.rank, 1);
    assert_int_equal(tensor.shape[0], 5);
    assert_int_equal(tensor.element_size, 4);
    assert_int_equal(hone_output(task, 0, 1, &tensor), HONE_OK);
    assert_int_equal(tensor.rank, 0);
    assert_int_equal(tensor.count, 1);
    assert_string_equal(hone_error(task), "");
    hone_close(task);
}

static void
json_is_one_object(void **state)
{
    struct hone_task *task = open_program();
    const char *json, *again;
    (void)state;
    assert_int_equal(hone_json(task, &json), HONE_OK);
    assert_non_null(strstr(json, "{\"op\":\"scale\",\"hash\":\""));
    assert_non_null(strstr(json, "\"name\":\"wide\",\"dims\":{\"N\":5}"));
    assert_null(strchr(json, '\n'));
    assert_int_equal(hone_json(task, &again), HONE_OK);
    assert_ptr_equal(json, again);
    hone_close(task);
}

static void
it_evaluates(void **state)
{
    struct hone_task *task = open_program();
    const float x[3] = {1, -2, 0.5F};
    const int32_t t = 1;
    double y[3], z, allowed_y[3], allowed_z;
    (void)state;
    int code = hone_evaluate(task, 0, (const void *[]){x, &t}, (double *[]){y, &z},
                             (double *[]){allowed_y, &allowed_z});
    if (code != HONE_OK)
        fail_msg("%s", hone_error(task));
    assert_true(y[0] == 3 && y[1] == -3 && y[2] == 2 && z == -2);
    assert_true(allowed_y[0] > 0 && allowed_y[0] < 1e-5 && allowed_z < 1e-30);
    hone_close(task);
}

static void
it_draws(void **state)
{
    struct hone_task *task = open_program();
    float a[3], b[3];
    (void)state;
    assert_int_equal(hone_draw(task, 0, 0, "normal", 3, a), HONE_OK);
    assert_int_equal(hone_draw(task, 0, 0, "normal", 3, b), HONE_OK);
    assert_memory_equal(a, b, sizeof a);
    assert_int_equal(hone_draw(task, 0, 0, "norml", 3, b), HONE_INPUT);
    assert_string_equal(hone_error(task), "norml: no such distribution\n");
    hone_close(task);
}

static void
mistakes_are_told(void **state)
{
    struct hone_task *task;
    struct hone_tensor tensor;
    const float x[3] = {0};
    const int32_t t = 3;
    double y[3], z;
    (void)state;
    assert_int_equal(hone_open("nowhere.op", &task), HONE_INPUT);
    assert_non_null(strstr(hone_error(task), "nowhere.op: no such file"));
    assert_int_equal(hone_case_count(task), 0);
    assert_string_equal(hone_name(task), "");
    assert_int_equal(hone_input(task, 0, 0, &tensor), HONE_INPUT);
    hone_close(task);
    assert_int_equal(hone_parse("bad.op", "Y[i] = ", 7, &task), HONE_INPUT);
    assert_non_null(strstr(hone_error(task), "bad.op:1:"));
    hone_close(task);
    task = open_program();
    assert_int_equal(hone_input(task, 9, 0, &tensor), HONE_INPUT);
    assert_int_equal(hone_input(task, 0, 2, &tensor), HONE_INPUT);
    assert_int_equal(hone_output(task, 0, 2, &tensor), HONE_INPUT);
    assert_int_equal(hone_evaluate(task, 0, (const void *[]){x, &t}, (double *[]){y, &z}, NULL),
                     HONE_INPUT);
    assert_string_equal(hone_error(task), "T: element [] is 3; the elements of T lie in 0..2\n");
    hone_close(task);
    hone_close(NULL);
}

static void
warnings_are_kept(void **state)
{
    static const char text[] = "in X, Z: f32[4]\nY[i] = X[i]\nout Y\n";
    struct hone_task *task;
    (void)state;
    assert_int_equal(hone_parse("test.op", text, strlen(text), &task), HONE_OK);
    assert_non_null(strstr(hone_warnings(task), "Z"));
    hone_close(task);
}

#ifdef HONE_FAULTS
/* The n-th allocation fails, for every n until one run meets no failure. */
static void
no_memory_is_an_answer(void **state)
{
    bool reached_end = false;
    (void)state;
    for (unsigned long n = 1; !reached_end && n < 100000; n++) {
        struct hone_task *task;
        const char *json;
        fault_arm(FAULT_ALLOC, n);
        int code = hone_parse("test.op", program, strlen(program), &task);
        if (code == HONE_OK)
            code = hone_json(task, &json);
        reached_end = code == HONE_OK;
        fault_arm(FAULT_ALLOC, 0);
        if (code != HONE_OK) {
            assert_int_equal(code, HONE_MACHINE);
            assert_string_equal(hone_error(task), "out of memory\n");
        }
        hone_close(task);
    }
    assert_true(reached_end);
}
#endif

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_is_described),    cmocka_unit_test(json_is_one_object),
        cmocka_unit_test(it_evaluates),           cmocka_unit_test(it_draws),
        cmocka_unit_test(mistakes_are_told),      cmocka_unit_test(warnings_are_kept),
#ifdef HONE_FAULTS
        cmocka_unit_test(no_memory_is_an_answer),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
