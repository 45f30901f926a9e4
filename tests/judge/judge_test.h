/* What the tests of the judge share: a judge, a task from text, verdicts on texts. */
#ifndef HONE_TESTS_JUDGE_TEST_H
#define HONE_TESTS_JUDGE_TEST_H

#include "../box/box_test.h"

#include "judge/judge.h"

struct judge_test {
    struct arena *arena;
    struct diags *diags;
    struct judge *judge;
    struct judge_task *task;
};

static inline void
judge_test_must(struct judge_test *test, enum status status)
{
    if (status != STATUS_OK)
        diags_print(test->diags, stderr, false);
    assert_int_equal(status, STATUS_OK);
}

static inline struct judge_test *
judge_test_create(void)
{
    struct arena *arena = arena_create();
    struct judge_test *test = arena_alloc(arena, sizeof *test);

    box_test_find_program();
    test->arena = arena;
    test->diags = diags_create(arena, 0);
    judge_test_must(test, judge_open(NULL, &test->judge, test->diags));
    return test;
}

static inline int
judge_test_setup(void **state)
{
    *state = judge_test_create();
    return 0;
}

static inline void
judge_test_destroy(struct judge_test *test)
{
    judge_task_close(test->task);
    judge_close(test->judge);
    arena_destroy(test->arena);
}

static inline int
judge_test_teardown(void **state)
{
    judge_test_destroy(*state);
    return 0;
}

/* Opens a task; the one before is closed. seed 0: a secret one. */
static inline void
judge_test_task(struct judge_test *test, const char *text, uint64_t seed)
{
    struct judge_setup setup = {
        .target = target_find("cpu"), .effort = JUDGE_QUICK, .seeded = seed != 0, .seed = seed};

    judge_task_close(test->task);
    test->task = NULL;
    setup.lang = lang_parse(test->arena, "test.op", text, strlen(text), test->diags);
    judge_test_must(test, setup.lang ? STATUS_OK : STATUS_INPUT);
    judge_test_must(test, judge_task_open(test->judge, &setup, &test->task, test->diags));
}

static inline struct judge_report
judge_test_verdict(struct judge_test *test, const char *text)
{
    struct judge_report report;

    judge_test_must(test, judge_verdict(test->task, test->arena, "test.c", text, strlen(text), NULL,
                                        0, NULL, &report, test->diags));
    return report;
}

/* The status it must have. */
static inline struct judge_report
judge_test_expect(struct judge_test *test, const char *text, enum judge_status status)
{
    struct judge_report report = judge_test_verdict(test, text);

    if (report.status != status)
        print_message("%s: %s\n%s\n", judge_status_name[report.status], report.reason,
                      report.details);
    assert_string_equal(judge_status_name[report.status], judge_status_name[status]);
    return report;
}

#define JUDGE_TEST(function) \
    cmocka_unit_test_setup_teardown(function, judge_test_setup, judge_test_teardown)

#endif
