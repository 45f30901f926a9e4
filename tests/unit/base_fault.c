#include "base/fault.h"
#include "unit.h"

#include <pthread.h>

static void
the_nth_call_fails_and_no_other(void **state)
{
    (void)state;
    for (unsigned long n = 1; n < 20; n++) {
        fault_arm(FAULT_WRITE, n);
        for (unsigned long i = 1; i < 40; i++)
            assert_int_equal(fault_hit(FAULT_WRITE), i == n);
    }
}

static void
kinds_are_counted_apart(void **state)
{
    (void)state;
    fault_arm(FAULT_FORK, 1);
    assert_int_equal(fault_hit(FAULT_WRITE), 0);
    assert_int_equal(fault_hit(FAULT_ALLOC), 0);
    assert_int_equal(fault_hit(FAULT_FORK), 1);
}

static void
zero_switches_off(void **state)
{
    (void)state;
    fault_arm(FAULT_ALLOC, 2);
    fault_arm(FAULT_ALLOC, 0);
    for (int i = 0; i < 10; i++)
        assert_int_equal(fault_hit(FAULT_ALLOC), 0);
}

static void *
hit_often(void *hits)
{
    for (int i = 0; i < 10000; i++)
        *(int *)hits += fault_hit(FAULT_ALLOC);
    return NULL;
}

static void
threads_share_one_count(void **state)
{
    pthread_t threads[4];
    int hits[4] = {0};

    (void)state;
    fault_arm(FAULT_ALLOC, 25000);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hit_often, &hits[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(hits[0] + hits[1] + hits[2] + hits[3], 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nth_call_fails_and_no_other),
        cmocka_unit_test(kinds_are_counted_apart),
        cmocka_unit_test(zero_switches_off),
        cmocka_unit_test(threads_share_one_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
