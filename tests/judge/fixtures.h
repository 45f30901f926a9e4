/* Folders of kernels with a known verdict: tests/evil and tests/honest.
 *
 * Among the first lines of each file stands
 *     // task NAME.op: STATUS; words
 * the task in the same folder, the verdict it must get (correct, if none is named) and words that
 * its reason must have. Each file is one test. */
#ifndef HONE_TESTS_FIXTURES_H
#define HONE_TESTS_FIXTURES_H

#include "../box/box_test.h"

#include "base/file.h"
#include "judge/judge.h"

#include <dirent.h>

struct fixture {
    const char *path, *op, *status, *words;
    struct source source;
};

struct fixtures {
    struct arena *arena;
    struct diags *diags;
    struct judge *judge;
    struct lang *lang;
    struct judge_task *task;
    const char *op; /* of the task now open */
    struct fixture *list;
    size_t count;
};

static struct fixtures fixtures; /* cmocka has no other way to share a fixture between tests */

static inline const char *
fixtures_root(void)
{
    return getenv("ROOT") ? getenv("ROOT") : ".";
}

/* The text behind `// task ` in one of the first lines. */
static inline void
fixture_read(struct arena *arena, const char *folder, const char *name, struct fixture *fixture)
{
    const char *line;
    char *text, *colon, *semicolon;

    fixture->path = file_join(arena, folder, name);
    assert_int_equal(file_read(arena, fixture->path, 16 << 20, &fixture->source, fixtures.diags),
                     0);
    line = strstr(fixture->source.text, "// task ");
    if (!line) /* empty or binary files are named in the folder's own list */
        return;
    line += strlen("// task ");
    text = arena_strndup(arena, line, strcspn(line, "\r\n"));
    semicolon = strchr(text, ';');
    if (semicolon) {
        *semicolon = '\0';
        fixture->words = semicolon + 1 + strspn(semicolon + 1, " ");
    }
    colon = strchr(text, ':');
    if (colon)
        *colon = '\0';
    fixture->op = file_join(arena, folder, text_trim(text));
    fixture->status = colon ? text_trim(colon + 1) : "correct";
}

static inline int
fixture_order(const void *a, const void *b)
{
    const struct fixture *x = a, *y = b;
    int by_task = strcmp(x->op ? x->op : "", y->op ? y->op : "");

    return by_task ? by_task : strcmp(x->path, y->path);
}

static inline void
fixtures_load(const char *folder_name)
{
    char *folder;
    DIR *dir;
    struct dirent *item;

    fixtures.arena = arena_create();
    fixtures.diags = diags_create(fixtures.arena, 0);
    folder = file_join(fixtures.arena, fixtures_root(), folder_name);
    dir = opendir(folder);
    fixtures.list = arena_array(fixtures.arena, 4096, sizeof *fixtures.list);
    while (dir && (item = readdir(dir)) && fixtures.count < 4096)
        if (text_ends(item->d_name, ".c")) {
            struct fixture *fixture = &fixtures.list[fixtures.count];
            fixture_read(fixtures.arena, folder, item->d_name, fixture);
            fixtures.count += fixture->op != NULL;
        }
    if (dir)
        closedir(dir);
    qsort(fixtures.list, fixtures.count, sizeof *fixtures.list, fixture_order);
}

static inline void
fixtures_close_task(void)
{
    judge_task_close(fixtures.task);
    fixtures.task = NULL;
    fixtures.op = NULL;
}

/* The judge for the task of this fixture; the same one for all that share it. */
static inline void
fixtures_open_task(const struct fixture *fixture)
{
    struct judge_setup setup = {.target = target_find("cpu"), .effort = JUDGE_QUICK};

    if (!fixtures.judge)
        assert_int_equal(judge_open(NULL, &fixtures.judge, fixtures.diags), 0);
    if (fixtures.op && !strcmp(fixtures.op, fixture->op))
        return;
    fixtures_close_task();
    setup.lang = lang_open(fixtures.arena, fixture->op, fixtures.diags);
    if (!setup.lang || judge_task_open(fixtures.judge, &setup, &fixtures.task, fixtures.diags))
        diags_print(fixtures.diags, stderr, false);
    assert_non_null(fixtures.task);
    fixtures.op = fixture->op;
}

static inline void
fixture_test(void **state)
{
    const struct fixture *fixture = *state;
    struct arena *arena = arena_create();
    struct judge_report report;
    const char *status;

    fixtures_open_task(fixture);
    if (judge_verdict(fixtures.task, arena, fixture->path, fixture->source.text,
                      fixture->source.length, NULL, 0, NULL, &report, fixtures.diags) != STATUS_OK)
        diags_print(fixtures.diags, stderr, false);
    status = judge_status_name[report.status];
    if (strcmp(status, fixture->status) ||
        (fixture->words && !strstr(report.reason, fixture->words)))
        print_message("# %s: expected %s (%s), got %s: %s [case %s, %s, seed %08llx]\n",
                      fixture->path, fixture->status, fixture->words ? fixture->words : "", status,
                      report.reason, report.case_name ? report.case_name : "-",
                      report.wrong.tensor ? report.wrong.where : "",
                      (unsigned long long)report.seed);
    assert_string_equal(status, fixture->status);
    if (fixture->words)
        assert_non_null(strstr(report.reason, fixture->words));
    arena_destroy(arena);
}

static inline int
fixtures_end(void **state)
{
    (void)state;
    fixtures_close_task();
    judge_close(fixtures.judge);
    fixtures.judge = NULL;
    return 0;
}

/* All of a folder, or those whose path contains `only`. */
static inline int
fixtures_run(const char *folder, const char *only)
{
    struct CMUnitTest *tests;
    size_t count = 0;
    int failed;

    box_test_find_program();
    fixtures_load(folder);
    tests = arena_array(fixtures.arena, fixtures.count, sizeof *tests);
    for (size_t i = 0; i < fixtures.count; i++)
        if (!only || strstr(fixtures.list[i].path, only))
            tests[count++] = (struct CMUnitTest){.name = strrchr(fixtures.list[i].path, '/') + 1,
                                                 .test_func = fixture_test,
                                                 .initial_state = &fixtures.list[i]};
    failed = _cmocka_run_group_tests(folder, tests, count, NULL, fixtures_end);
    arena_destroy(fixtures.arena);
    return failed || count == 0;
}

#endif
