/* Which tasks a word of the command line means: lists, ranges, folders, files, and what is said of
 * those that mean none. */
#include "scratch.h"

#include "base/buf.h"
#include "base/file.h"
#include "bench/suite.h"

#include <stdlib.h>
#include <sys/stat.h>

/* ---- here is a folder with suites ---- */

static void
put(struct unit *unit, const char *path, const char *text)
{
    char command[200];

    snprintf(command, sizeof command, "mkdir -p $(dirname %s)", path);
    assert_int_equal(system(command), 0);
    assert_int_equal(file_write(path, text, strlen(text), unit->diags), STATUS_OK);
}

static void
make_suites(struct unit *unit)
{
    put(unit, "suites/kb/1/LIST",
        "# first\n1 001_one.op\n2 002_two_b.op smaller wasteful\n\n12 012_last.op constant\n");
    put(unit, "suites/kb/1/001_one.op", "op one\n");
    put(unit, "suites/kb/1/002_two_b.op", "op two\n");
    put(unit, "suites/kb/1/012_last.op", "op last\n");
    put(unit, "suites/kb/2/LIST", "1 001_more.op\n");
    put(unit, "suites/kb/2/001_more.op", "op more\n");
    put(unit, "plain/b.op", "op b\n");
    put(unit, "plain/a.op", "op a\n");
    put(unit, "plain/note.txt", "nothing\n");
    put(unit, "empty/note.txt", "nothing\n");
    char *real = realpath("suites", NULL);
    setenv("HONE_SUITES", real, 1);
    free(real);
}

/* "kb/1 2 two_b [smaller wasteful]; ..." */
static const char *
selected(struct unit *unit, const char *word)
{
    struct suite_plan plan = {0};
    struct buf buf = buf_in(unit->arena);

    if (suite_select(unit->arena, word, &plan, unit->diags) != STATUS_OK)
        return unit_message(unit, diags_count(unit->diags) - 1);
    for (size_t i = 0; i < plan.count; i++)
        buf_printf(&buf, "%s%s %lld %s%s%s%s", i ? "; " : "", plan.tasks[i].suite,
                   (long long)plan.tasks[i].number, plan.tasks[i].name,
                   *plan.tasks[i].marks ? " [" : "", plan.tasks[i].marks,
                   *plan.tasks[i].marks ? "]" : "");
    return buf.data ? buf.data : "";
}

#define NUMBERS                                                                          \
    "write numbers from 1 on behind the colon, the smaller one of a range first, as in " \
    "kernelbench/1:1-20,35"

static void
words_mean_tasks(void **state)
{
    static const struct {
        const char *word, *tasks;
    } rows[] = {
        {"kb/1", "kb/1 1 one; kb/1 2 two_b [smaller wasteful]; kb/1 12 last [constant]"},
        {"suites/kb/1", "kb/1 1 one; kb/1 2 two_b [smaller wasteful]; kb/1 12 last [constant]"},
        {"suites/kb/1/:12", "kb/1 12 last [constant]"},
        {"kb/1:2-12", "kb/1 2 two_b [smaller wasteful]; kb/1 12 last [constant]"},
        {"kb/1:2-", "kb/1 2 two_b [smaller wasteful]; kb/1 12 last [constant]"},
        {"kb/1:-2", "kb/1 1 one; kb/1 2 two_b [smaller wasteful]"},
        {"kb/1:12,1", "kb/1 1 one; kb/1 12 last [constant]"},
        {"kb:1", "kb/1 1 one; kb/2 1 more"},
        {"kb:12", "kb/1 12 last [constant]"}, /* the last task of all is a 1 */
        {"plain", "plain 1 a; plain 2 b"},
        {"plain:2", "plain 2 b"},
        {"plain/b.op", " 0 b"},
        {"suites/kb/1/002_two_b.op", "kb/1 2 two_b [smaller wasteful]"},
        /* mistakes */
        {"kb/1:3", "kb/1:3: no task has the number 3; its tasks are 1 to 12, with gaps"},
        {"kb/1:1,3-11", "kb/1:1,3-11: no task has a number from 3 to 11; its tasks are 1 to 12, "
                        "with gaps"},
        {"kb:20", "kb:20: its tasks are 1 to 12; write numbers among them"},
        {"kb/1:0", "kb/1:0: " NUMBERS},
        {"kb/1:5-2", "kb/1:5-2: " NUMBERS},
        {"kb/1:", "kb/1:: " NUMBERS},
        {"kb/1:-", "kb/1:-: " NUMBERS},
        {"kb/1:x", "kb/1:x: " NUMBERS},
        {"kb/1:1-99999999999999999999", "kb/1:1-99999999999999999999: " NUMBERS},
        {"kb/1:1-20", "kb/1:1-20: its tasks are 1 to 12; write numbers among them"},
        {"kb/3", "kb/3: no such suite, folder or file; did you mean kb/1?"},
        {"nowhere", "nowhere: no such suite, folder or file; write one of kb/1, kb/2"},
        {"plain/b.op:1", "plain/b.op:1: numbers are of suites and folders; name the file alone"},
        {"empty", "empty: there is no task in it: neither a LIST nor a file that ends in .op"},
    };
    struct unit *unit = *state;

    make_suites(unit);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(selected(unit, rows[i].word), rows[i].tasks);
}

static void
no_task_comes_twice(void **state)
{
    struct unit *unit = *state;
    struct suite_plan plan = {0};

    make_suites(unit);
    assert_int_equal(suite_select(unit->arena, "kb/1:1-2", &plan, unit->diags), STATUS_OK);
    assert_int_equal(suite_select(unit->arena, "suites/kb/1/002_two_b.op", &plan, unit->diags),
                     STATUS_OK);
    assert_int_equal(suite_select(unit->arena, "kb/1", &plan, unit->diags), STATUS_OK);
    assert_int_equal(plan.count, 3);
    /* a number that nobody has is a mistake, whatever is there already */
    assert_int_equal(suite_select(unit->arena, "kb/1:5", &plan, unit->diags), STATUS_INPUT);
    assert_true(plan.tasks[0].path[0] == '/');
}

static void
without_suites_it_says_so(void **state)
{
    struct unit *unit = *state;

    setenv("HONE_SUITES", "/nonexistent", 1);
    assert_non_null(strstr(selected(unit, "kb/1"), "set HONE_SUITES to their folder"));
}

static void
a_list_that_is_none(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"001_one.op\n", "LIST:1: a line is NUMBER FILE.op [MARK ...]"},
        {"# x\n1 a.op\n1 b.op\n", "LIST:3: numbers rise from line to line"},
        {"1 ../a.op\n", "LIST:1: the second word is the name of a file of this folder"},
        {"1 a.c\n", "LIST:1: the second word is the name of a file of this folder"},
        {"1 a.op slow\n", "LIST:1: a mark is wasteful, constant or smaller"},
        {"1 a.op  smaller\n", "LIST:1: a mark is wasteful, constant or smaller"},
        {"0 a.op\n", "LIST:1: a line is NUMBER FILE.op"},
    };
    struct unit *outer = *state;
    (void)outer;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *inner;
        unit_setup(&inner);
        struct unit *unit = inner;
        struct suite_plan plan = {0};
        struct source source = {"LIST", rows[i].text, strlen(rows[i].text)};

        assert_int_equal(suite_read_list(unit->arena, &source, "s", "f", &plan, unit->diags),
                         STATUS_INPUT);
        if (!strstr(unit_printed(unit, false), rows[i].says))
            fail_msg("'%s' is not in '%s'", rows[i].says, unit_printed(unit, false));
        unit_teardown(&inner);
    }
}

static void
marks_are_whole_words(void **state)
{
    (void)state;
    assert_true(suite_has_mark("smaller wasteful", SUITE_WASTEFUL));
    assert_true(suite_has_mark("wasteful", SUITE_WASTEFUL));
    assert_false(suite_has_mark("smaller", SUITE_WASTEFUL));
    assert_false(suite_has_mark("", SUITE_CONSTANT));
    assert_false(suite_has_mark("constantly", SUITE_CONSTANT));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(words_mean_tasks),          SCRATCH_TEST(no_task_comes_twice),
        SCRATCH_TEST(without_suites_it_says_so), SCRATCH_TEST(a_list_that_is_none),
        SCRATCH_TEST(marks_are_whole_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
