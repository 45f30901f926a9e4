#include "base/diag.h"
#include "unit.h"

static const char program[] = "op f\n\tin X\n  Y = X + ä + Z\r\nlast";
static const struct source source = {.path = "f.op", .text = program, .length = sizeof program - 1};
static const struct source other = {.path = "g.op", .text = "one", .length = 3};

static struct place
at(uint32_t line, uint32_t column)
{
    return (struct place){.source = &source, .line = line, .column = column};
}

static void
a_message_shows_its_place(void **state)
{
    struct unit *unit = *state;

    diags_add(unit->diags, DIAG_ERROR, at(1, 4), "no name %s; write op %d", "f", 1);
    assert_string_equal(unit_printed(unit, false), "f.op:1:4: no name f; write op 1\n"
                                                   "    op f\n"
                                                   "       ^\n");
}

static void
carets_follow_tabs_and_wide_bytes(void **state)
{
    struct unit *unit = *state;

    diags_add(unit->diags, DIAG_ERROR, at(2, 5), "tab");
    diags_add(unit->diags, DIAG_ERROR, at(3, 16), "after two bytes that show as one");
    assert_string_equal(unit_printed(unit, false), "f.op:2:5: tab\n    \tin X\n    \t   ^\n"
                                                   "f.op:3:16: after two bytes that show as one\n"
                                                   "      Y = X + ä + Z\n"
                                                   "                  ^\n");
}

static void
places_may_be_coarse(void **state)
{
    struct unit *unit = *state;

    diags_add(unit->diags, DIAG_ERROR, (struct place){0}, "--time 10: ten what?");
    diags_add(unit->diags, DIAG_ERROR, at(0, 0), "has no output");
    diags_add(unit->diags, DIAG_WARNING, at(4, 0), "the whole line");
    diags_add(unit->diags, DIAG_ERROR, at(4, 5), "at the end");
    diags_add(unit->diags, DIAG_ERROR, at(9, 1), "no such line");
    diags_add(unit->diags, DIAG_WARNING, (struct place){0}, "noise");
    assert_string_equal(unit_printed(unit, false), "--time 10: ten what?\n"
                                                   "warning: noise\n"
                                                   "f.op: has no output\n"
                                                   "f.op:4: warning: the whole line\n"
                                                   "    last\n"
                                                   "f.op:4:5: at the end\n"
                                                   "    last\n"
                                                   "        ^\n"
                                                   "f.op:9:1: no such line\n");
}

static void
they_are_sorted_within_each_source(void **state)
{
    struct unit *unit = *state;
    const struct place elsewhere = {.source = &other, .line = 1, .column = 1};

    diags_add(unit->diags, DIAG_ERROR, at(3, 3), "c");
    diags_add(unit->diags, DIAG_ERROR, elsewhere, "other");
    diags_add(unit->diags, DIAG_ERROR, at(1, 4), "a");
    diags_add(unit->diags, DIAG_ERROR, at(3, 1), "b");
    diags_add(unit->diags, DIAG_ERROR, at(3, 3), "d");
    assert_int_equal(diags_count(unit->diags), 5);
    assert_string_equal(unit_message(unit, 0), "a");
    assert_string_equal(unit_message(unit, 1), "b");
    assert_string_equal(unit_message(unit, 2), "c");
    assert_string_equal(unit_message(unit, 3), "d");
    assert_string_equal(unit_message(unit, 4), "other");
    assert_null(diags_get(unit->diags, 5));
}

static void
only_so_many_are_kept(void **state)
{
    struct unit *unit = *state;

    unit->diags = diags_create(unit->arena, 2);
    for (int i = 0; i < 5; i++)
        diags_add(unit->diags, DIAG_ERROR, (struct place){0}, "error %d", i);
    for (int i = 0; i < 3; i++)
        diags_add(unit->diags, DIAG_WARNING, (struct place){0}, "warning %d", i);
    assert_int_equal(diags_errors(unit->diags), 5);
    assert_int_equal(diags_count(unit->diags), 4);
    assert_string_equal(unit_printed(unit, false), "error 0\nerror 1\n"
                                                   "warning: warning 0\nwarning: warning 1\n"
                                                   "and 3 more errors\n"
                                                   "and 1 more warning\n");
}

static void
twenty_is_the_default(void **state)
{
    struct unit *unit = *state;

    for (int i = 0; i < 100; i++)
        diags_add(unit->diags, DIAG_ERROR, at(1, (uint32_t)(100 - i)), "error %d", i);
    assert_int_equal(diags_count(unit->diags), 20);
    assert_int_equal(diags_errors(unit->diags), 100);
    assert_string_equal(unit_message(unit, 0), "error 19");
}

/* A file must not be able to move the cursor or to ring the bell of whoever reads the message. */
static void
control_characters_are_not_passed_on(void **state)
{
    struct unit *unit = *state;
    const struct source evil = {.path = "e\033.op", .text = "a\033[2Jb\a", .length = 7};

    diags_add(unit->diags, DIAG_ERROR, (struct place){&evil, 1, 2}, "bad \033 byte\n  next");
    assert_string_equal(unit_printed(unit, false), "e?.op:1:2: bad ? byte\n  next\n"
                                                   "    a?[2Jb?\n     ^\n");
}

static void
long_lines_are_cut_around_the_column(void **state)
{
    struct unit *unit = *state;
    char *text = arena_alloc(unit->arena, 100001);
    struct source wide = {.path = "w", .text = text, .length = 100000};
    char *printed, *line, *caret;

    memset(text, 'a', 100000);
    text[5000] = 'X';
    diags_add(unit->diags, DIAG_ERROR, (struct place){&wide, 1, 5001}, "here");
    printed = unit_printed(unit, false);
    line = strchr(printed, '\n') + 1;
    caret = strchr(line, '\n') + 1;
    assert_true(strlen(printed) < 300);
    assert_int_equal(line[strcspn(caret, "^")], 'X');
}

static void
colour_is_added_on_request(void **state)
{
    struct unit *unit = *state;

    diags_add(unit->diags, DIAG_WARNING, at(1, 1), "w");
    assert_string_equal(unit_printed(unit, true),
                        "\033[1mf.op:1:1:\033[0m \033[33mwarning:\033[0m w\n"
                        "    op f\n    \033[31m^\033[0m\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(a_message_shows_its_place),
        UNIT_TEST(carets_follow_tabs_and_wide_bytes),
        UNIT_TEST(places_may_be_coarse),
        UNIT_TEST(they_are_sorted_within_each_source),
        UNIT_TEST(only_so_many_are_kept),
        UNIT_TEST(twenty_is_the_default),
        UNIT_TEST(control_characters_are_not_passed_on),
        UNIT_TEST(long_lines_are_cut_around_the_column),
        UNIT_TEST(colour_is_added_on_request),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
