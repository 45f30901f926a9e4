/* Files of settings: what they say, and where they are wrong. */
#include "unit.h"

#include "base/settings.h"

static enum status
parse(struct unit *unit, const char *text, struct settings *settings)
{
    struct source *source = arena_alloc(unit->arena, sizeof *source);

    *source = (struct source){.path = "config", .text = text, .length = strlen(text)};
    return settings_parse(unit->arena, source, true, settings, unit->diags);
}

static void
sections_and_settings_are_found(void **state)
{
    struct unit *unit = *state;
    struct settings settings;

    assert_int_equal(parse(unit,
                           "# mine\r\n"
                           "model   = openai:gpt=5   # a remark\n"
                           "\n"
                           "empty =\n"
                           "[provider lab]   # ours\n"
                           "sees = build,\n"
                           "    contract,\t\n"
                           "\ttask # and so on\n"
                           "[budget]\n"
                           "[role verifier memory ]\n",
                           &settings),
                     STATUS_OK);
    assert_int_equal(settings.count, 4);
    assert_string_equal(settings.sections[0].kind, "");
    assert_string_equal(settings_get(&settings.sections[0], "model")->value, "openai:gpt=5");
    assert_int_equal(settings_get(&settings.sections[0], "model")->at.column, 11);
    assert_int_equal(settings_get(&settings.sections[0], "model")->place.line, 2);
    assert_string_equal(settings_get(&settings.sections[0], "empty")->value, "");
    assert_null(settings_get(&settings.sections[0], "sees"));
    assert_string_equal(settings.sections[1].kind, "provider");
    assert_string_equal(settings.sections[1].name, "lab");
    assert_string_equal(settings_get(&settings.sections[1], "sees")->value,
                        "build, contract, task");
    assert_string_equal(settings.sections[2].kind, "budget");
    assert_string_equal(settings.sections[2].name, "");
    assert_string_equal(settings.sections[3].name, "verifier memory");
}

static void
mistakes_have_a_line(void **state)
{
    static const struct {
        const char *text, *printed;
    } rows[] = {
        {"a = 1\nmodel\n", "config:2:1: no setting; write key = value, or # before a remark"},
        {"  a = 1\n", "config:1:3: a line that begins with blanks continues one above; there is "
                      "none"},
        {"[provider lab\n", "config:1:1: the section has no end; write [kind name]"},
        {"[]\n", "config:1:1: no name of a section; write [kind name]"},
        {"[a b]c]\n", "config:1:1: no name of a section; write [kind name]"},
        {"= 3\n", "config:1:1: no name before the =; write key = value"},
        {"a = 1\n\na = 2\n", "config:3:1: a is given twice, first in line 1; write it once"},
        {"[a b]\n[a b]\n", "config:2:1: this section is there twice; put its lines together"},
    };
    struct unit *unit = *state;
    struct settings settings;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unit->diags = diags_create(unit->arena, 0);
        assert_int_equal(parse(unit, rows[i].text, &settings), STATUS_INPUT);
        assert_int_equal(diags_errors(unit->diags), 1);
        assert_memory_equal(unit_printed(unit, false), rows[i].printed, strlen(rows[i].printed));
    }
}

static void
unknown_words_have_neighbours(void **state)
{
    static const char *const words[] = {"model", "cost"};
    struct unit *unit = *state;

    settings_unknown(unit->diags, (struct place){0}, "cots", "setting", words, 2);
    settings_unknown(unit->diags, (struct place){0}, "zebra", "setting", words, 2);
    assert_string_equal(unit_message(unit, 0), "cots: no such setting; did you mean cost?");
    assert_string_equal(unit_message(unit, 1), "zebra: no such setting");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(sections_and_settings_are_found),
        UNIT_TEST(mistakes_have_a_line),
        UNIT_TEST(unknown_words_have_neighbours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
