/* A recipe at work, with a judge by formula and a model by script: who speaks when, on what, and
 * what becomes of it; and that a run goes on after kill -9 as if nothing had been. */
#include "fake_judge.h"
#include "scratch.h"

#include "base/file.h"

#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const char program_text[] = "op norm\n"
                                   "dim R=24, N=200\n"
                                   "in X: f32[R,N]\n"
                                   "M[r] = mean[j](X[r,j])\n"
                                   "Y[r,j] = exp(X[r,j] - M[r])\n"
                                   "out Y\n"
                                   "case odd R=3 N=37\n";

static const size_t both[] = {0, 1};

/* A kernel that the judge by formula gives the cost that it names. */
#define KERNEL(title, words)                                          \
    title "\n```c\n"                                                  \
          "enum { " words " };\n"                                     \
          "void kernel(const float *restrict X, float *restrict Y)\n" \
          "{\n    for (long i = 0; i < R * N; i++)\n        Y[i] = X[i];\n}\n```\n"

/* ---- a run ---- */

struct play {
    const char *recipe; /* a name, or the text of one: with a newline */
    const char *script; /* NULL: stand-ins */
    unsigned evaluations;
    size_t cases;
    struct fake fake;
    double calls;
    const char *archive;
    enum run_mode mode;
    void (*between)(struct unit *unit, struct store *store, int64_t run); /* before it begins */
};

struct played {
    enum status status;
    struct run_result result;
    struct llm_budget budget;
    const char *roles; /* of the calls, in order: "planner coder coder" */
    struct store_candidate *candidates;
    size_t candidate_count;
    struct store_call *calls;
    size_t call_count;
    struct store_run run;
};

static struct store_run
new_run(const char *recipe)
{
    return (struct store_run){.task = {.hash = "4f1c",
                                       .family = "f",
                                       .name = "norm",
                                       .canonical = "c",
                                       .source = program_text},
                              .target = "cpu",
                              .recipe = recipe,
                              .cases = "default; odd",
                              .machine_key = "m",
                              .started = 1e9};
}

static void
must(struct unit *unit, enum status status)
{
    if (status != STATUS_OK)
        fail_msg("%s", unit_printed(unit, false));
}

static const struct recipe *
recipe_of(struct unit *unit, const char *text)
{
    struct source source = {"test", text, strlen(text)};
    const struct recipe *recipe = strchr(text, '\n')
                                      ? recipe_read(unit->arena, &source, unit->diags)
                                      : recipe_find(unit->arena, text, unit->diags);
    if (recipe == NULL)
        fail_msg("%s", unit_printed(unit, false));
    return recipe;
}

static void
read_back(struct unit *unit, struct store *store, struct played *played)
{
    struct buf roles = buf_in(unit->arena);
    must(unit, store_candidates(store, unit->arena, played->run.id, STORE_WHOLE,
                                &played->candidates, &played->candidate_count, unit->diags));
    must(unit, store_calls(store, unit->arena, played->run.id, STORE_WHOLE, &played->calls,
                           &played->call_count, unit->diags));
    for (size_t i = 0; i < played->call_count; i++)
        buf_printf(&roles, "%s%s", i ? " " : "", played->calls[i].role);
    played->roles = roles.data ? roles.data : "";
}

static struct played
play(struct unit *unit, const struct play *play)
{
    struct played played = {.run = new_run("test")};
    struct store_options how = {.program = "hone 0.1", .now = 1e9};
    struct store *store;
    struct fake fake = play->fake;
    struct run_judge judge = fake_judge(unit, &fake);
    struct llm_options client = {.seed = 1};
    struct llm_choice *models = NULL;
    size_t model_count = 0;
    struct llm *llm = NULL;
    struct lang *lang =
        lang_parse(unit->arena, "norm.op", program_text, strlen(program_text), unit->diags);
    const char *archive = play->archive ? play->archive : "archive.db";
    must(unit, store_open(archive, &how, &store, unit->diags));
    if (play->mode == RUN_FRESH)
        must(unit, store_run_begin(store, &played.run, unit->diags));
    else {
        must(unit, store_run_find(store, unit->arena, "last", &played.run, unit->diags));
        if (play->mode == RUN_RESUME)
            must(unit, store_run_resume(store, played.run.id, unit->diags));
    }
    if (play->between != NULL)
        play->between(unit, store, played.run.id);
    if (play->script != NULL) {
        must(unit, file_write("script", play->script, strlen(play->script), unit->diags));
        must(unit, llm_open(&client, &llm, unit->diags));
        must(unit, llm_models_parse(llm, unit->arena, "scripted:script", &models, &model_count,
                                    unit->diags));
    }
    played.budget = llm_budget_without_limits();
    if (play->calls > 0)
        played.budget.calls = play->calls;
    if (llm != NULL)
        llm_set_budget(llm, &played.budget);
    struct run_team team = {.recipe = recipe_of(unit, play->recipe),
                            .llm = llm,
                            .models = models,
                            .model_count = model_count,
                            .stand_ins = play->script == NULL,
                            .budget = &played.budget};
    struct run_options options = {
        .lang = lang,
        .cases = both,
        .case_count = play->cases ? play->cases : 1,
        .target = target_find("cpu"),
        .machine = {.vector_bytes = 32, .registers = 16, .threads = 2, .l1 = 32768, .l2 = 524288},
        .threads = 1,
        .seed = 7,
        .evaluations = play->evaluations ? play->evaluations : 40,
        .store = store,
        .run = &played.run,
        .mode = play->mode,
        .family = "f",
        .machine_key = "m",
        .team = &team};
    played.status = run_optimize_by(unit->arena, &judge, &options, &played.result, unit->diags);
    if (play->mode != RUN_REPLAY)
        must(unit, store_run_finish(store, played.run.id, STORE_DONE, "", played.result.number, 1e9,
                                    unit->diags));
    read_back(unit, store, &played);
    llm_close(llm);
    store_close(store);
    return played;
}

static const struct store_candidate *
candidate_with(const struct played *played, const char *words)
{
    for (size_t i = 0; i < played->candidate_count; i++)
        if (strstr(played->candidates[i].kernel, words) != NULL &&
            strcmp(played->candidates[i].phase, "file") != 0)
            return &played->candidates[i];
    return NULL;
}

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
    struct unit *unit = *state;
    struct recipe **list;
    size_t count = recipe_list(unit->arena, &list, unit->diags);
    assert_true(count >= 34);
    for (size_t i = 0; i < count; i++) {
        char archive[64];
        snprintf(archive, sizeof archive, "%zu.db", i);
        struct played played = play(unit, &(struct play){.recipe = list[i]->name,
                                                         .evaluations = 14,
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
        assert_true(played.result.evaluations <= 14);
        struct play again = {.recipe = list[i]->name,
                             .evaluations = 14,
                             .cases = 1 + i % 2,
                             .archive = archive,
                             .mode = RUN_REPLAY};
        struct played replayed = play(unit, &again);
        if (replayed.result.difference != NULL)
            fail_msg("%s: %s", list[i]->name, replayed.result.difference);
        must(unit, replayed.status);
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
