/* What recipes share when things do not go well: numbers-only replies, stagnation, replies that
 * cannot be used, a stop at any moment. */
#include "team_unit.h"

#include <signal.h>

static size_t
count_role(const struct played *played, const char *role, const char *proposer)
{
    size_t count = 0;
    for (size_t i = 0; i < played->candidate_count; i++)
        count += !strcmp(played->candidates[i].role, role) &&
                 (proposer == NULL || !strcmp(played->candidates[i].proposer, proposer));
    return count;
}

/* ---- numbers ---- */

static const char schedules[] = "recipe = numbers\n"
                                "[phase refine]\n"
                                "start = naive\n"
                                "topology = linear\n"
                                "rounds = 2\n"
                                "repair = 2\n"
                                "sweep = 3, from 1.9\n"
                                "accept.base = correct\n"
                                "accept.best = faster\n"
                                "[role coder]\n"
                                "sees = task, base\n"
                                "returns = schedule\n"
                                "[role debugger]\n"
                                "when = failing\n"
                                "sees = candidate, verdict\n"
                                "returns = file\n";

/* The structure is judged as it is; numbers are only where a sweep begins, without another call. */
static void
numbers_are_swept(void **state)
{
    struct unit *unit = *state;
    struct play structure = {.recipe = schedules,
                             .script = "=== coder\n```schedule\nY: r j/2v j/v@u j@v\n```\n"
                                       "=== coder\n```schedule\nY: r j/2v j/v@u j@v nt\n```\n",
                             .fake = {.slow = ""}};
    struct played played = play(unit, &structure);
    must(unit, played.status);
    assert_string_equal(played.roles, "coder coder");
    assert_int_equal(count_role(&played, "sweep", NULL), 0);
    struct play numbers = structure;
    numbers.archive = "numbers.db";
    numbers.script = "=== coder\n```schedule\nY: r j/2v j/v@u j@v\n```\n"
                     "=== coder\n```schedule\nY: r j/4v j/v@u j@v\n```\n";
    played = play(unit, &numbers);
    must(unit, played.status);
    assert_string_equal(played.roles, "coder coder");
    assert_true(count_role(&played, "sweep", NULL) > 0);
}

/* ---- what is handed on ---- */

static const char handing[] = "recipe = handing\n"
                              "[phase cold]\n"
                              "start = blank\n"
                              "topology = samples 3\n"
                              "rounds = 1\n"
                              "accept.best = faster\n"
                              "pass = best, one per structure\n"
                              "[role coder]\n"
                              "sees = task\n"
                              "returns = file\n"
                              "[phase on]\n"
                              "topology = beam 3\n"
                              "rounds = 1\n"
                              "[role coder]\n"
                              "sees = task, base\n"
                              "returns = file\n";

#define LOOPS(number, cost, loops)                                                             \
    "=== coder\n```c\nenum { number = " number " }; /* cost = " cost " */\nvoid kernel(const " \
    "float *restrict X, float *restrict Y)\n{\n" loops "}\n```\n"
#define LOOP "    for (int i = 0; i < R; i++)\n        Y[i] = X[i];\n"

/* Of three kernels two are alike: the faster one of those goes on, and the one that differs. */
static void
one_of_each_structure_goes_on(void **state)
{
    struct unit *unit = *state;
    struct played played = play(
        unit, &(struct play){.recipe = handing,
                             .script = LOOPS("1", "6", LOOP) LOOPS("2", "7", LOOP LOOP)
                                 LOOPS("3", "5", LOOP) LOOPS("4", "9", LOOP)
                                     LOOPS("5", "9", LOOP LOOP) LOOPS("6", "9", LOOP LOOP LOOP)});
    must(unit, played.status);
    int64_t first = candidate_with(&played, "number = 3")->id;
    int64_t second = candidate_with(&played, "number = 2")->id;
    int64_t left = candidate_with(&played, "number = 1")->id;
    bool from_first = false, from_second = false;
    for (size_t i = 0; i < played.candidate_count; i++) {
        const struct store_candidate *one = &played.candidates[i];
        if (one->parent_count == 0 || strcmp(one->phase, "on") != 0)
            continue;
        from_first = from_first || one->parents[0].candidate == first;
        from_second = from_second || one->parents[0].candidate == second;
        assert_true(one->parents[0].candidate != left);
    }
    assert_true(from_first && from_second);
}

/* ---- stagnation ---- */

static const char planned[] = "recipe = planned\n"
                              "[phase refine]\n"
                              "start = naive\n"
                              "topology = linear\n"
                              "select = best\n"
                              "rounds = 30\n"
                              "stagnant = 2\n"
                              "replans = 2\n"
                              "plans = 2\n"
                              "stop = stagnant after replans\n"
                              "accept.best = faster\n"
                              "[role planner]\n"
                              "when = start, stagnant\n"
                              "sees = task, base\n"
                              "returns = list of { title, change: 40 words, low, high }\n"
                              "[role coder]\n"
                              "sees = task, base, plan\n"
                              "returns = file\n";

static const char *
slow_kernels(struct unit *unit, unsigned count)
{
    struct buf script = buf_in(unit->arena);
    for (unsigned i = 0; i < count; i++)
        buf_printf(
            &script,
            "=== coder\n```c\nenum { number = %u }; /* cost = 50 */\nvoid kernel(const float "
            "*restrict X, float *restrict Y) { Y[0] = X[%u]; }\n```\n",
            i, i);
    return script.data;
}

static const char *
plans_named(struct unit *unit, const char *first, const char *second)
{
    return arena_printf(unit->arena,
                        "=== planner\n[{\"title\":\"%s\",\"change\":\"do %s\",\"low\":1.1,"
                        "\"high\":1.2},{\"title\":\"%s\",\"change\":\"do %s\",\"low\":1.0,"
                        "\"high\":1.5}]\n",
                        first, first, second, second);
}

static void
stagnation_asks_for_other_plans(void **state)
{
    struct unit *unit = *state;
    struct played played =
        play(unit, &(struct play){.recipe = planned,
                                  .script = arena_printf(
                                      unit->arena, "%s%s%s%s", plans_named(unit, "a", "b"),
                                      plans_named(unit, "a", "c"), plans_named(unit, "d", "e"),
                                      slow_kernels(unit, 20))});
    must(unit, played.status);
    assert_string_equal(played.roles,
                        "planner coder coder planner coder coder planner coder coder");
    assert_string_equal(played.result.stopped, "no progress");
    assert_null(strstr(played.calls[0].prompt, "structurally different"));
    assert_non_null(strstr(played.calls[3].prompt, "structurally different"));
    assert_non_null(strstr(played.calls[1].prompt, "do a"));
    assert_non_null(strstr(played.calls[2].prompt, "do b"));
    assert_non_null(strstr(played.calls[4].prompt, "do c")); /* a was tried */
}

/* A planner that has nothing new to say ends it, where the recipe says so. */
static void
no_plan_is_left(void **state)
{
    struct unit *unit = *state;
    struct buf recipe = buf_in(unit->arena);
    const char *stop = strstr(planned, "stop = ");
    buf_printf(&recipe, "%.*sstop = plans empty%s", (int)(stop - planned), planned,
               strchr(stop, '\n'));
    struct played played =
        play(unit, &(struct play){.recipe = recipe.data,
                                  .script = arena_printf(
                                      unit->arena, "%s%s%s", plans_named(unit, "a", "b"),
                                      plans_named(unit, "b", "a"), slow_kernels(unit, 20))});
    must(unit, played.status);
    assert_string_equal(played.roles, "planner coder coder planner coder");
    assert_string_equal(played.result.stopped, "plans empty");
}

/* Best-first has no step before there is a plan: the planner speaks first, and again when all plans
 * are closed, each after a second attempt that brought nothing. */
static void
plans_come_first(void **state)
{
    struct unit *unit = *state;
    struct buf recipe = buf_in(unit->arena);
    const char *topology = strstr(planned, "topology = ");
    const char *rest = strstr(planned, "rounds = ");
    buf_printf(&recipe, "%.*stopology = best-first\nstale = 1\n%s", (int)(topology - planned),
               planned, rest);
    struct played played =
        play(unit, &(struct play){.recipe = recipe.data,
                                  .calls = 7,
                                  .script = arena_printf(
                                      unit->arena, "%s%s%s%s", plans_named(unit, "a", "b"),
                                      plans_named(unit, "c", "d"), plans_named(unit, "e", "f"),
                                      slow_kernels(unit, 20))});
    must(unit, played.status);
    assert_string_equal(played.roles, "planner coder coder coder coder planner coder");
    assert_non_null(strstr(played.calls[1].prompt, "do b")); /* the most promising */
}

/* ---- replies that cannot be used ---- */

/* Five in a row, and the micro-coder plays the roles for the rest. */
static void
stand_ins_go_on(void **state)
{
    struct unit *unit = *state;
    struct played played = play(
        unit,
        &(struct play){.recipe = "hone", .script = "=== * repeat\nI cannot.\n", .evaluations = 40});
    must(unit, played.status);
    size_t asked = 0, stood_in = 0;
    for (size_t i = 0; i < played.call_count; i++)
        if (!strcmp(played.calls[i].model, "builtin"))
            stood_in++;
        else {
            asked++;
            assert_int_equal(stood_in, 0); /* nobody is asked again */
        }
    assert_true(asked >= 10 && asked <= 16); /* each is sent back once */
    assert_true(stood_in > 0);
    assert_true(played.result.unusable >= 5);
    assert_true(count_role(&played, "coder", "builtin") > 0);
}

/* ---- a stop ---- */

static volatile sig_atomic_t stopped;
static unsigned ticks_left;

static void
count_down(void)
{
    stopped = ticks_left > 0 && --ticks_left == 0 ? 1 : stopped;
}

/* Wherever ^C comes, the run goes on as if it had not. */
static void
a_stop_changes_nothing(void **state)
{
    struct unit *unit = *state;
    struct play whole = {.recipe = planned,
                         .fake = {.tick = count_down},
                         .evaluations = 8,
                         .script =
                             arena_printf(unit->arena, "%s%s%s%s", plans_named(unit, "a", "b"),
                                          plans_named(unit, "c", "d"), plans_named(unit, "e", "f"),
                                          slow_kernels(unit, 20)),
                         .stop = &stopped,
                         .archive = "whole.db"};
    ticks_left = 0;
    stopped = 0;
    struct played wanted = play(unit, &whole);
    must(unit, wanted.status);
    unsigned ticks = 1;
    for (bool was = true; was; ticks += 2) {
        struct play cut = whole;
        cut.archive = arena_printf(unit->arena, "%u.db", ticks);
        ticks_left = ticks;
        play(unit, &cut);
        was = stopped;
        ticks_left = 0;
        stopped = 0;
        cut.mode = RUN_RESUME;
        struct played played = play(unit, &cut);
        if (played.status != STATUS_OK)
            fail_msg("stopped at %u: %s", ticks, unit_printed(unit, false));
        assert_string_equal(played.roles, wanted.roles);
        assert_string_equal(played.result.kernel, wanted.result.kernel);
    }
    assert_true(ticks > 20); /* it was stopped often */
}

/* ---- without an archive ---- */

static const char drafted[] = "recipe = drafted\n"
                              "[phase draft]\n"
                              "propose = builtin\n"
                              "evals = 6\n"
                              "[phase refine]\n"
                              "topology = linear\n"
                              "rounds = 2\n"
                              "accept.base = correct\n"
                              "accept.best = faster\n"
                              "[role coder]\n"
                              "sees = task, base\n"
                              "returns = file\n";

/* Nothing has a row: candidates are told apart all the same. */
static void
candidates_need_no_archive(void **state)
{
    struct unit *unit = *state;
    struct play good = {
        .recipe = drafted,
        .script = "=== coder\n" KERNEL("slower", "NUMBER = 1, cost = 6") "=== coder\n" KERNEL(
            "faster", "NUMBER = 2, cost = 3"),
        .no_archive = true};
    struct played played = play(unit, &good);
    must(unit, played.status);
    assert_non_null(strstr(played.result.cases[0].best->kernel, "NUMBER = 2"));
    struct play bad = good;
    bad.fake.wrong_at_last = "NUMBER = 2";
    played = play(unit, &bad);
    must(unit, played.status);
    assert_non_null(strstr(played.result.cases[0].best->kernel, "NUMBER = 1"));
}

/* ---- hone.h in the file ---- */

/* A text may include it where it likes, also twice: the file stands alone and has it once. */
static void
the_file_has_hone_h_once(void **state)
{
    struct unit *unit = *state;
    struct play twice = {.recipe = drafted,
                         .script = "=== coder\n```c\n"
                                   "#define HONE_VECTOR_BYTES 32\n#include \"hone.h\"\n"
                                   "#include \"hone.h\"\nenum { cost = 3 }; /* cost = 3 */\n"
                                   "void kernel(const float *restrict X, float *restrict Y)\n"
                                   "{\n    vf32_store(Y, vf32_load(X));\n}\n```\n"
                                   "=== coder\n" KERNEL("slower", "NUMBER = 1, cost = 6")};
    struct played played = play(unit, &twice);
    must(unit, played.status);
    assert_int_equal(
        file_write("file.c", played.result.kernel, strlen(played.result.kernel), unit->diags), 0);
    assert_non_null(strstr(played.result.kernel, "cost = 3"));
    assert_int_equal(system("gcc -std=gnu17 -fsyntax-only -fopenmp -DN=200 -DR=24 file.c"), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(numbers_are_swept),
        SCRATCH_TEST(one_of_each_structure_goes_on),
        SCRATCH_TEST(stagnation_asks_for_other_plans),
        SCRATCH_TEST(no_plan_is_left),
        SCRATCH_TEST(plans_come_first),
        SCRATCH_TEST(stand_ins_go_on),
        SCRATCH_TEST(a_stop_changes_nothing),
        SCRATCH_TEST(candidates_need_no_archive),
        SCRATCH_TEST(the_file_has_hone_h_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
