/* A recipe at work, with a judge by formula and a model by script: who speaks when, on what, and
 * what becomes of it; and that a run goes on after kill -9 as if nothing had been. */
#include "team_unit.h"

#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- linear refinement ---- */

static const char linear[] = "recipe = line\n"
                             "[phase refine]\n"
                             "start = naive\n"
                             "topology = linear\n"
                             "select = best\n"
                             "rounds = 3\n"
                             "repair = 2\n"
                             "accept.best = faster\n"
                             "[role critic]\n"
                             "when = passing\n"
                             "sees = task, base\n"
                             "returns = { bottleneck: 30 words, change: 30 words }\n"
                             "[role coder]\n"
                             "sees = task, base, plan\n"
                             "returns = file\n"
                             "[role debugger]\n"
                             "when = failing\n"
                             "sees = candidate, verdict\n"
                             "returns = file\n";

#define CRITIC "=== critic repeat\n{\"bottleneck\": \"loads\", \"change\": \"fewer loads\"}\n"

static void
a_win_is_given(void **state)
{
    struct unit *unit = *state;
    struct played played = play(
        unit, &(struct play){
                  .recipe = linear,
                  .script = CRITIC "=== coder\n" KERNEL("faster", "cost = 5") "=== coder\n" KERNEL(
                      "slower", "cost = 50") "=== coder\n" KERNEL("fastest", "cost = 4")});
    must(unit, played.status);
    assert_string_equal(played.roles, "critic coder critic coder critic coder");
    assert_non_null(strstr(played.result.kernel, "cost = 4"));
    assert_string_equal(candidate_with(&played, "cost = 5 ")->accepted, "best");
    assert_string_equal(candidate_with(&played, "cost = 50")->accepted, "slower");
    assert_string_equal(candidate_with(&played, "cost = 4 ")->accepted, "best");
    assert_non_null(strstr(played.calls[1].prompt, "fewer loads"));
    assert_int_equal(played.result.proposals, 3);
    assert_int_equal(played.result.accepted, 2);
}

static void
two_repairs_and_it_is_dropped(void **state)
{
    struct unit *unit = *state;
    struct played played = play(
        unit,
        &(struct play){
            .recipe = linear,
            .script = CRITIC "=== coder\n" KERNEL("first", "BROKEN = 1") "=== debugger\n" KERNEL(
                "again",
                "BROKEN"
                " 2") "=== debugger\n" KERNEL("again",
                                              "BROKEN_BUILD = 3") "=== coder\n" KERNEL("other",
                                                                                       "BROKEN "
                                                                                       "= 4") "=== "
                                                                                              "debu"
                                                                                              "gger"
                                                                                              "\n" KERNEL(
                                                                                                  "mende"
                                                                                                  "d",
                                                                                                  "cost "
                                                                                                  "6") "=== coder\n" KERNEL("same as before",
                                                                                                                            "cost = 6")});
    must(unit, played.status);
    assert_string_equal(played.roles, "critic coder debugger debugger critic coder debugger critic "
                                      "coder");
    assert_string_equal(candidate_with(&played, "BROKEN_BUILD = 3")->accepted, "dropped");
    assert_string_equal(candidate_with(&played, "cost = 6")->accepted, "best");
    assert_non_null(strstr(played.calls[2].prompt, "3 of 4800 elements"));
    assert_non_null(strstr(played.result.kernel, "cost = 6"));
    size_t same = 0; /* a duplicate is not judged again */
    for (size_t i = 0; i < played.candidate_count; i++)
        same += strstr(played.candidates[i].kernel, "cost = 6") != NULL &&
                strcmp(played.candidates[i].phase, "file") != 0;
    assert_int_equal(same, 1);
}

static void
unusable_replies_go_back_once(void **state)
{
    struct unit *unit = *state;
    struct played played = play(
        unit, &(struct play){.recipe = linear,
                             .script = CRITIC
                             "=== coder\nI would use tiles.\n"
                             "=== coder\n" KERNEL("then", "cost = 5") "=== coder\nnothing\n"
                                                                      "=== coder\nnothing again\n"
                                                                      "=== coder\n" KERNEL(
                                                                          "later", "cost = 4")});
    must(unit, played.status);
    assert_string_equal(played.roles, "critic coder coder critic coder coder critic coder");
    assert_non_null(strstr(played.calls[2].prompt, "could not be used"));
    assert_int_equal(played.result.unusable, 1);
    assert_non_null(strstr(played.result.kernel, "cost = 4"));
}

/* Nothing that a model says makes the result slower than what it began with. */
static void
never_slower_than_the_start(void **state)
{
    struct unit *unit = *state;
    struct played played = play(
        unit, &(struct play){.recipe = linear,
                             .script = CRITIC "=== coder repeat\n" KERNEL("worse", "cost = 500")});
    must(unit, played.status);
    assert_null(strstr(played.result.kernel, "cost = 500"));
    assert_true(played.result.cases[0].best->us <= 20);
}

static void
limits_hold(void **state)
{
    struct unit *unit = *state;
    struct play limited = {.recipe = linear,
                           .script = CRITIC "=== coder repeat\n" KERNEL("faster", "cost = 5"),
                           .calls = 3};
    struct played played = play(unit, &limited);
    must(unit, played.status);
    assert_int_equal(played.call_count, 3);
    assert_string_equal(played.result.stopped, "calls");
    limited.calls = 0;
    limited.evaluations = 2;
    limited.archive = "other.db";
    played = play(unit, &limited);
    must(unit, played.status);
    assert_true(played.result.evaluations <= 2);
}

/* ---- the default recipe ---- */

static const char plans[] =
    "=== planner repeat\n"
    "[{\"kind\":\"code\",\"title\":\"first\",\"limit\":\"\",\"change\":\"a\",\"low\":1.05,"
    "\"high\":1.1,\"risk\":\"\"},"
    "{\"kind\":\"code\",\"title\":\"second\",\"limit\":\"\",\"change\":\"b\",\"low\":1.01,"
    "\"high\":1.5,\"risk\":\"\"},"
    "{\"kind\":\"program\",\"title\":\"third\",\"limit\":\"\",\"change\":\"c\",\"low\":1.0,"
    "\"high\":1.2,\"risk\":\"\"},"
    "{\"kind\":\"code\",\"title\":\"fourth\",\"limit\":\"\",\"change\":\"d\",\"low\":1.0,"
    "\"high\":1.01,\"risk\":\"\"}]\n"
    "=== critic repeat\n{\"bottleneck\":\"x\",\"method\":\"y\",\"change\":\"z\",\"low\":1.0,"
    "\"high\":1.1}\n"
    "=== summariser repeat\n{\"when\":\"a\",\"do\":\"b\",\"gain\":1.1,\"snippet\":\"\"}\n"
    "=== tester repeat\n[{\"pattern\":\"X[i,j] = 0\",\"sizes\":\"\"}]\n"
    "=== debugger repeat\nI cannot.\n";

static void
the_default_plans_first(void **state)
{
    struct unit *unit = *state;
    struct buf script = buf_in(unit->arena);
    buf_printf(&script, "%s=== coder repeat\n%s", plans, KERNEL("a change", "cost = 3"));
    struct played played =
        play(unit, &(struct play){.recipe = "hone", .script = script.data, .evaluations = 60});
    must(unit, played.status);
    assert_true(strncmp(played.roles, "planner coder ", 14) == 0);
    assert_non_null(strstr(played.result.kernel, "cost = 3"));
    assert_true(played.result.drafted_us >= 10);
    /* three of the four plans: the highest low, the highest high, a new kind */
    for (size_t i = 1; i < played.call_count && strcmp(played.calls[i].role, "planner"); i++)
        if (!strcmp(played.calls[i].role, "coder"))
            assert_null(strstr(played.calls[i].prompt, "fourth"));
}

static void
at_light_nobody_is_asked(void **state)
{
    struct unit *unit = *state;
    struct played played =
        play(unit,
             &(struct play){
                 .recipe = "hone", .script = plans, .fake = {.light_us = 19.9}, .evaluations = 60});
    must(unit, played.status);
    assert_int_equal(played.call_count, 0);
}

static void
say_and_add(struct unit *unit, struct store *store, int64_t run)
{
    struct store_note say = {.run = run, .kind = "say", .text = "keep rows together"};
    struct store_note add = {.run = run,
                             .kind = "add",
                             .file = "mine.c",
                             .text =
                                 "enum { cost = 2 }; void kernel(const float *restrict X, float "
                                 "*restrict Y) { Y[0] = X[0]; }\n"};
    must(unit, store_inbox_add(store, &say, unit->diags));
    must(unit, store_inbox_add(store, &add, unit->diags));
}

static void
people_are_heard(void **state)
{
    struct unit *unit = *state;
    struct buf script = buf_in(unit->arena);
    buf_printf(&script, "%s=== coder repeat\n%s", plans, KERNEL("a change", "cost = 3"));
    struct played played = play(unit, &(struct play){.recipe = "hone",
                                                     .script = script.data,
                                                     .evaluations = 60,
                                                     .between = say_and_add});
    must(unit, played.status);
    assert_non_null(strstr(played.calls[0].prompt, "keep rows together"));
    assert_non_null(candidate_with(&played, "cost = 2"));
    assert_string_equal(candidate_with(&played, "cost = 2")->proposer, "person");
    assert_non_null(strstr(played.result.kernel, "cost = 2"));
}

/* ---- every recipe ---- */

static void
every_recipe_runs_with_stand_ins(void **state)
{
    const struct unit *all = *state;
    struct recipe **list;
    size_t count = recipe_list(all->arena, &list, all->diags);
    assert_true(count >= 34);
    for (size_t i = 0; i < count; i++) {
        struct unit own = own_unit(), *unit = &own;
        char archive[64];
        snprintf(archive, sizeof archive, "%zu.db", i);
        struct played played = play(unit, &(struct play){.recipe = list[i]->name,
                                                         .evaluations = 8,
                                                         .cases = 1 + i % 2,
                                                         .archive = archive});
        if (played.status != STATUS_OK) {
            for (size_t k = 0; k < played.candidate_count; k++)
                print_message("# %s %s: %s\n", played.candidates[k].role,
                              played.candidates[k].verdicts[0].status,
                              played.candidates[k].verdicts[0].reason);
            fail_msg("%s: %d %s", list[i]->name, played.status, unit_printed(unit, false));
        }
        print_message("# %s: %u evaluations, %zu calls: %.120s\n", list[i]->name,
                      played.result.evaluations, played.call_count, played.roles);
        assert_true(played.result.evaluations <= 8);
        struct play again = {.recipe = list[i]->name,
                             .evaluations = 8,
                             .cases = 1 + i % 2,
                             .archive = archive,
                             .mode = RUN_REPLAY};
        struct played replayed = play(unit, &again);
        if (replayed.result.difference != NULL)
            fail_msg("%s: %s", list[i]->name, replayed.result.difference);
        must(unit, replayed.status);
        arena_destroy(own.arena);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(a_win_is_given),
        SCRATCH_TEST(two_repairs_and_it_is_dropped),
        SCRATCH_TEST(unusable_replies_go_back_once),
        SCRATCH_TEST(never_slower_than_the_start),
        SCRATCH_TEST(limits_hold),
        SCRATCH_TEST(the_default_plans_first),
        SCRATCH_TEST(at_light_nobody_is_asked),
        SCRATCH_TEST(people_are_heard),
        SCRATCH_TEST(every_recipe_runs_with_stand_ins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
