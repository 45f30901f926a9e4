/* Conditions and the technique table: every row can hold and can fail, names only figures that
 * there are and questions that are asked, and stands in the doc. */
#include "unit.h"

#include "agent/agent.h"
#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Figures as a text: "spills=2 light=40". */
static double
figure_in(const void *user, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = user; at && *at; at += strcspn(at, " "), at += *at == ' ')
        if (!strncmp(at, name, length) && at[length] == '=')
            return strtod(at + length + 1, NULL);
    return NAN;
}

static int
evaluate(struct unit *unit, const char *when, const char *figures, const char **error)
{
    struct agent_facts facts = {figure_in, figures};

    return agent_condition(unit->arena, when, &facts, error);
}

static void
conditions_are_evaluated(void **state)
{
    static const struct {
        const char *when, *figures;
        int holds;
    } rows[] = {
        {"a > 1", "a=2", 1},
        {"a > 1", "a=1", 0},
        {"a >= 1", "a=1", 1},
        {"a<1", "a=0.5", 1},
        {"a <= -1.5", "a=-2", 1},
        {"a == 1e3", "a=1000", 1},
        {"a != 1", "a=2", 1},
        {"1 < a", "a=2", 1},
        {"a > b", "a=2 b=1", 1},
        {"a > 1 and b > 1", "a=2 b=1", 0},
        {"a > 1 or b > 1", "a=2 b=1", 1},
        {"a > 1 or b > 1 and c > 1", "a=2 b=0 c=0", 1}, /* and binds first */
        {"(a > 1 or b > 1) and c > 1", "a=2 b=0 c=0", 0},
        {"not a > 1", "a=2", 0},
        {"not (a > 1 and b > 1)", "a=2 b=1", 1},
        {"not not a > 1", "a=2", 1},
        {"android > 0 and order > 0", "android=1 order=1", 1}, /* words, not letters */
        /* what is not known does not hold, in either way */
        {"a > 1", "", 0},
        {"a <= 1", "", 0},
        {"a != 1", "", 0},
        {"not a > 1", "", 1},
        {"a > 1 or b > 1", "b=2", 1},
    };
    struct unit *unit = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *error;
        if (evaluate(unit, rows[i].when, rows[i].figures, &error) != rows[i].holds)
            fail_msg("%s with %s: not %d (%s)", rows[i].when, rows[i].figures, rows[i].holds,
                     error ? error : "");
        assert_null(error);
    }
}

static void
mistakes_have_a_place(void **state)
{
    static const struct {
        const char *when, *words;
    } rows[] = {
        {"", "column 1: a figure or a number is missing"},
        {"a", "column 2: a comparison is missing"},
        {"a > ", "column 5: a figure or a number is missing"},
        {"a > 1 b > 2", "column 7: the condition should end here"},
        {"a > 1 and", "column 10: a figure"},
        {"(a > 1", "column 7: a bracket is not closed"},
        {"a > 1)", "column 6: the condition should end"},
        {"a = 1", "column 3: a comparison is missing"},
        {"a > inf", NULL}, /* a figure of that name is not known */
        {"a > $", "column 5: a figure"},
    };
    struct unit *unit = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *error;
        int holds = evaluate(unit, rows[i].when, "a=2 b=1", &error);
        assert_int_equal(holds, rows[i].words ? -1 : 0);
        if (rows[i].words && (!error || strncmp(error, rows[i].words, strlen(rows[i].words)) != 0))
            fail_msg("%s: %s", rows[i].when, error ? error : "");
    }
    char deep[400];
    const char *error;
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    assert_int_equal(evaluate(unit, deep, "", &error), -1);
    assert_non_null(strstr(error, "more than 64"));
}

/* ---- the table ---- */

static const struct {
    const char *name, *holds, *fails;
} cases[] = {
    {"vector-math", "libm_calls=1", "libm_calls=0 exps_per_element=1 vector_share=95"},
    {"lanes-for-reductions", "scalar_chains=1", "scalar_chains=0 reduction_remarks=0"},
    {"unit-stride", "stride=64", "stride=1 gathers=0"},
    {"register-tile", "contraction=1 accumulators=4", "contraction=1 accumulators=12"},
    {"fewer-loads", "loads_per_fma=1.5 free_registers=4", "loads_per_fma=1.5 free_registers=0"},
    {"spills", "spills=2", "spills=0"},
    {"pack", "contraction=1 row_bytes=8192", "contraction=0 row_bytes=8192"},
    {"fuse", "intermediate_l2=2", "intermediate_l2=0.1"},
    {"one-pass", "shared_reductions=1", "shared_reductions=0"},
    {"store-past-cache", "output_l2=4 output_read=0", "output_l2=4 output_read=1"},
    {"split-k", "k_over_mn=64", "k_over_mn=63"},
    {"tighten", "filter=1", "filter=0"},
    {"phase-pack", "window_stride=2", "window_stride=1"},
    {"flatten", "padding=1", "padding=0"},
    {"threads", "us=100 parallel_regions=0 threads=2", "us=100 parallel_regions=0 threads=1"},
    {"no-threads", "us=2 parallel_regions=1", "us=2 parallel_regions=0"},
    {"parallel-inside", "parallel_inside=1 light=5", "parallel_inside=1 light=80"},
    {"denormals", "exp_open=1 light=10", "exp_open=1 light=80"},
    {"algebra", "row_divisions=1", "row_divisions=0"},
    {"exp2", "exp_scaled=1", "exp_scaled=0"},
    {"recompute", "cheap_stages=1", "cheap_stages=0"},
    {"online-softmax", "exps_per_element=1 contraction=0", "exps_per_element=1 contraction=1"},
    {"scalar-unroll", "vector_share=10", "vector_share=100 remarks=0"},
    {"lower-precision", "light=50", "light=100"},
    {"prefetch", "light=50", "light=100"},
};

static void
every_row_can_hold_and_fail(void **state)
{
    struct unit *unit = *state;

    assert_int_equal(agent_technique_count, sizeof cases / sizeof *cases);
    for (size_t i = 0; i < agent_technique_count; i++) {
        const struct agent_technique *row = &agent_techniques[i];
        const char *error;
        size_t c = 0;
        while (c < agent_technique_count && strcmp(cases[c].name, row->name) != 0)
            c++;
        if (c == agent_technique_count)
            fail_msg("%s has no case", row->name);
        assert_int_equal(evaluate(unit, row->when, cases[c].holds, &error), 1);
        assert_int_equal(evaluate(unit, row->when, cases[c].fails, &error), 0);
        assert_int_equal(evaluate(unit, row->when, "", &error), 0);
    }
}

/* Names that figure_of_names() was asked for and that no profile has. */
struct names {
    const char *unknown;
};

static double
figure_of_names(const void *user, const char *name)
{
    struct names *names = *(struct names *const *)user;

    for (size_t i = 0; i < PROFILE_FIGURE_COUNT; i++)
        if (!strcmp(profile_figure_name[i], name))
            return 1;
    names->unknown = name;
    return NAN;
}

static void
conditions_name_figures_that_exist(void **state)
{
    struct unit *unit = *state;
    struct names names = {NULL}, *pointer = &names;
    struct agent_facts facts = {figure_of_names, &pointer};

    for (size_t i = 0; i < agent_technique_count; i++) {
        const char *error;
        agent_condition(unit->arena, agent_techniques[i].when, &facts, &error);
        if (names.unknown)
            fail_msg("%s asks for %s", agent_techniques[i].name, names.unknown);
    }
}

/* Every word of a row is in some question that a sketch asks. */
static void
holes_are_questions(void **state)
{
    static const char *const files[] = {"sgemm",      "softmax", "conv2d", "attention", "gelu_mlp",
                                        "layer_norm", "cumsum",  "bilstm", "max_pool"};
    static const struct coder_machine machine = {
        .vector_bytes = 32, .registers = 16, .threads = 2, .l1 = 32768, .l2 = 524288};
    struct unit *unit = *state;
    struct buf asked = buf_in(unit->arena);

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = arena_printf(unit->arena, "%s/examples/%s.op", getenv("ROOT"), files[i]);
        struct lang *lang = lang_open(unit->arena, path, unit->diags);
        assert_non_null(lang);
        struct program *program = lang_program(lang, 0, NULL, 0, unit->diags);
        struct coder_space *space = coder_space_open(unit->arena, program, &machine);
        for (unsigned g = 0; g < 3; g++) {
            struct coder_genome genome;
            memset(genome.gene, (int)g, sizeof genome.gene);
            struct coder_sketch sketch = coder_sketch(space, &genome);
            for (size_t h = 0; h < sketch.hole_count; h++)
                buf_printf(&asked, "%s \n", strchr(sketch.holes[h].what, ' '));
        }
    }
    for (size_t i = 0; i < agent_technique_count; i++) {
        char *holes = arena_strdup(unit->arena, agent_techniques[i].holes), *word;
        while ((word = strsep(&holes, " ")))
            if (*word && !strstr(asked.data, arena_printf(unit->arena, " %s ", word)))
                fail_msg("%s: no question about %s", agent_techniques[i].name, word);
    }
}

static void
a_menu_has_what_holds(void **state)
{
    struct unit *unit = *state;
    struct agent_facts facts = {figure_in, "spills=2 padding=1 light=20"};
    struct buf text = buf_in(unit->arena);
    size_t rows[32];

    assert_int_equal(agent_menu(unit->arena, &facts, rows, 32), 2);
    assert_string_equal(agent_techniques[rows[0]].name, "spills");
    assert_string_equal(agent_techniques[rows[1]].name, "flatten");
    assert_int_equal(agent_menu(unit->arena, &facts, rows, 1), 1);
    agent_put_menu(&text, rows, 1);
    assert_int_equal(strncmp(text.data, "- spills: ", 10), 0);
    assert_null(strstr(text.data, "flatten"));
    assert_non_null(strstr(text.data, "- do not: prefetch: "));
    assert_non_null(strstr(text.data, "- do not: online-softmax: "));
}

static void
rows_are_found_by_name(void **state)
{
    (void)state;
    assert_string_equal(agent_technique_in("no-threads: stay on one")->name, "no-threads");
    assert_string_equal(agent_technique_in("split-k: share between threads")->name, "split-k");
    assert_string_equal(agent_technique_in("try pack, then fuse")->name, "pack");
    assert_null(agent_technique_in("unpacked refused"));
    assert_null(agent_technique_in(NULL));
}

/* doc/techniques.md has exactly the rows of the table. */
static void
the_doc_has_the_table(void **state)
{
    struct unit *unit = *state;
    const char *path = arena_printf(unit->arena, "%s/doc/techniques.md", getenv("ROOT"));
    struct buf table = buf_in(unit->arena);
    struct source doc;

    for (size_t i = 0; i < agent_technique_count; i++) {
        const struct agent_technique *row = &agent_techniques[i];
        buf_printf(&table, "| %s%s | `%s` | %s | %s | %s |\n", row->anti ? "not: " : "", row->name,
                   row->when, row->what, row->measured, row->holes);
    }
    assert_int_equal(file_read(unit->arena, path, 1 << 20, &doc, unit->diags), STATUS_OK);
    if (!strstr(doc.text, table.data)) {
        fputs(table.data, stdout); /* too long for a message of the test */
        fail_msg("doc/techniques.md differs; it should have the above");
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(conditions_are_evaluated),    UNIT_TEST(mistakes_have_a_place),
        UNIT_TEST(every_row_can_hold_and_fail), UNIT_TEST(conditions_name_figures_that_exist),
        UNIT_TEST(holes_are_questions),         UNIT_TEST(a_menu_has_what_holds),
        UNIT_TEST(rows_are_found_by_name),      UNIT_TEST(the_doc_has_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
