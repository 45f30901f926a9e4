#include "../box/box_test.h"

#include <time.h>

static void
doubles(void **state)
{
    struct box_test *test = *state;
    int object = box_test_object(test, "void kernel(const float *x, float *y)\n"
                                       "{ for (int i = 0; i < 64; i++) y[i] = 2 * x[i]; }\n");
    struct box_test_job made;
    struct box_end end;

    box_test_job(test, &made, object, 256);
    for (int i = 0; i < 64; i++)
        box_test_data(test, &made.regions[0])[i] = (float)i;
    end = box_test_run(test, &made.job);
    print_message("%s: %s\n", box_ending_name(end.ending), end.reason);
    assert_int_equal(end.ending, BOX_DONE);
    for (int i = 0; i < 64; i++)
        assert_true(box_test_data(test, &made.regions[1])[i] == 2 * (float)i);
    close(object);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(doubles)};

    return cmocka_run_group_tests(tests, box_test_setup, box_test_teardown);
}
