/* What the tests of the task's parts share: a cache of their own, programs from text. */
#ifndef HONE_TESTS_TASK_UNIT_H
#define HONE_TESTS_TASK_UNIT_H

#include "scratch.h"

#include "task/task.h"

/* The cache is a folder of the test's own. */
static inline int
cached_setup(void **state)
{
    int failed = scratch_setup(state);
    char *folder = getcwd(NULL, 0);

    setenv("XDG_CACHE_HOME", folder, 1);
    free(folder);
    return failed;
}

#define CACHED_TEST(function) \
    cmocka_unit_test_setup_teardown(function, cached_setup, scratch_teardown)

static inline struct program *
parse(struct unit *unit, const char *text)
{
    struct lang *lang = lang_parse(unit->arena, "test.op", text, strlen(text), unit->diags);
    struct program *program = lang ? lang_program(lang, 0, NULL, 0, unit->diags) : NULL;

    if (!program)
        fail_msg("%s", unit_printed(unit, false));
    return program;
}

#endif
