/* Every kernel in tests/evil gets the verdict it names also from a judge without any right. Where
 * the tests are not run by root, judge_evil has shown it. */
#include "../judge/fixtures.h"

static void
judge_evil_is_run_by_a_user(void **state)
{
    (void)state;
    assert_true(geteuid() != 0);
}

int
main(void)
{
    const struct CMUnitTest only[] = {cmocka_unit_test(judge_evil_is_run_by_a_user)};

    box_test_find_program();
    if (getenv("HONE_AS_NOBODY"))
        return fixtures_run("tests/evil", NULL);
    setenv("HONE_AS_NOBODY", "1", 1);
    return geteuid() == 0 ? box_test_as_nobody(0) : cmocka_run_group_tests(only, NULL, NULL);
}
