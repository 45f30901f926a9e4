/* What a recipe can ask of the engine besides rounds: the end, tools, testers, several of a role,
 * conversations, seeds, parts, and ideas said as schedules. */
#include "team_unit.h"

#include <math.h>

#define CODER(title, words) "=== coder\n" KERNEL(title, words)
#define DEBUGGER(title, words) "=== debugger\n" KERNEL(title, words)

static size_t
events_of(const struct played *played, const char *kind, const char *words)
{
    size_t count = 0;
    for (size_t i = 0; i < played->event_count; i++)
        count += !strcmp(played->events[i].kind, kind) &&
                 (strstr(played->events[i].key, words) != NULL ||
                  strstr(played->events[i].answer, words) != NULL);
    return count;
}

/* The same again from the archive, without asking anybody. */
static void
replays(struct unit *unit, const struct play *play_then)
{
    struct play again = *play_then;
    again.mode = RUN_REPLAY;
    struct played replayed = play(unit, &again);
    if (replayed.result.difference != NULL)
        fail_msg("%s", replayed.result.difference);
    must(unit, replayed.status);
}

/* ---- the end ---- */

#define LINE                                                     \
    "recipe = line\n[phase refine]\nstart = naive\nrounds = 2\n" \
    "accept.base = correct\naccept.best = faster\n"              \
    "[role coder]\nsees = task, base\nreturns = file\n"

#define FINISH                                                                          \
    LINE "[phase finish]\nfinalists = 2\nmeasure = all cases, 3 windows, interleaved\n" \
         "check = fresh seeds\n"                                                        \
         "give = fastest beyond the noise; otherwise the draft's best\n"

static const char two_wins[] = CODER("one", "cost = 6") CODER("two", "cost = 5");

static void
finalists_meet_in_windows(void **state)
{
    struct unit *unit = *state;
    struct play finish = {.recipe = FINISH, .script = two_wins};
    struct played played = play(unit, &finish);
    must(unit, played.status);
    assert_non_null(strstr(played.result.kernel, "cost = 5"));
    /* two finalists, three windows each; without such a phase the fastest alone, once */
    assert_int_equal(events_of(&played, "compare", "default"), 6);
    size_t verdicts = events_of(&played, "verdict", "quick");
    replays(unit, &finish);
    struct play plain = {.recipe = LINE, .script = two_wins, .archive = "plain.db"};
    played = play(unit, &plain);
    must(unit, played.status);
    assert_int_equal(events_of(&played, "compare", "default"), 1);
    assert_int_equal(events_of(&played, "verdict", "quick") + 1, verdicts);
}

/* It seems to win; in most windows it does not. */
static void
who_wins_by_chance_is_not_given(void **state)
{
    struct unit *unit = *state;
    struct play chance = {.recipe = FINISH, .script = two_wins, .fake = {.fickle = "cost = 5"}};
    struct played played = play(unit, &chance);
    must(unit, played.status);
    assert_non_null(strstr(played.result.kernel, "cost = 6"));
}

/* A check that only the end makes: who fails there gives way to the next. */
static void
who_fails_at_the_end_gives_way(void **state)
{
    struct unit *unit = *state;
    struct play wrong = {.recipe = "recipe = line\n[phase refine]\nstart = naive\nrounds = 2\n"
                                   "accept.base = any\naccept.best = faster 900 %\n"
                                   "[role coder]\nsees = task, base\nreturns = file\n"
                                   "[phase finish]\nfinalists = 2\ncheck = fresh seeds\n",
                         .script = two_wins,
                         .cases = 2,
                         .fake = {.wrong_at_last = "cost = 5"}};
    struct played played = play(unit, &wrong);
    must(unit, played.status);
    assert_null(strstr(played.result.kernel, "cost = 5"));
    assert_non_null(strstr(played.result.kernel, "cost = 6"));
}

static void
one_thread_tells_where_all_cannot(void **state)
{
    struct unit *unit = *state;
    static const char recipe[] = LINE "[phase finish]\nfinalists = 2\n"
                                      "measure = 1 and all threads, 3 windows\n";
    struct play same = {
        .recipe = recipe, .script = two_wins, .threads = 2, .fake = {.same = "cost = "}};
    struct played played = play(unit, &same);
    must(unit, played.status);
    assert_non_null(strstr(played.result.kernel, "cost = 5"));
    assert_int_equal(events_of(&played, "compare", "one thread"), 3);
    replays(unit, &same);
}

/* ---- tools ---- */

#define TOOLS                                                     \
    "recipe = tools\n[phase refine]\nstart = naive\nrounds = 1\n" \
    "[role coder]\nsees = task, base\nreturns = file\n"           \
    "tools = compile, judge, sweep\nsteps = 4\n"

static void
compiling_costs_no_evaluation(void **state)
{
    struct unit *unit = *state;
    struct play tools = {
        .recipe = TOOLS,
        .script = "=== coder\nTOOL compile\n" KERNEL(
            "a",
            "BROKEN_BUILD = 1") "=== coder\nTOOL compile\n" KERNEL("a",
                                                                   "cost = 5") "=== coder\nTOOL "
                                                                               "compile\nnothing"
                                                                               "\n" CODER(
                                                                                   "a",
                                                                                   "cost = 5")};
    struct played played = play(unit, &tools);
    must(unit, played.status);
    assert_int_equal(played.call_count, 4);
    assert_non_null(strstr(played.calls[0].prompt, "TOOL sweep: "));
    assert_non_null(strstr(played.calls[1].prompt, "expected ;"));
    assert_non_null(strstr(played.calls[2].prompt, "built"));
    assert_non_null(strstr(played.calls[3].prompt, "There is no kernel in your message"));
    assert_int_equal(played.result.evaluations, 2); /* the start and the answer */
    assert_string_equal(candidate_with(&played, "cost = 5")->accepted, "best");
    replays(unit, &tools);
}

#define TUNED(number)                                           \
    "```c\n//! tune T = 4 8 16\n#define T " number "\n"         \
    "void kernel(const float *restrict X, float *restrict Y)\n" \
    "{\n    for (long i = 0; i < R * N; i++)\n        Y[i] = X[i] + T;\n}\n```\n"

static void
a_sweep_tries_what_is_marked(void **state)
{
    struct unit *unit = *state;
    struct play tools = {.recipe = TOOLS,
                         .script =
                             "=== coder\nTOOL sweep\n" TUNED("8") "=== coder\nTOOL sweep\n" KERNEL(
                                 "a", "cost = 5") "=== coder\n" TUNED("16"),
                         .fake = {.fast = "#define T 16", .slow = "#define T 4"}};
    struct played played = play(unit, &tools);
    must(unit, played.status);
    assert_int_equal(played.call_count, 3);
    assert_non_null(strstr(played.calls[1].prompt, "T=4: 1.00 ms"));
    assert_non_null(strstr(played.calls[1].prompt, "the best: T=16"));
    assert_non_null(strstr(played.calls[2].prompt, "No number is marked"));
    /* what the tool looked at may be proposed */
    assert_non_null(strstr(played.result.kernel, "#define T 16"));
    replays(unit, &tools);
}

/* ---- an idea as a schedule ---- */

#define SAYS                                                     \
    "recipe = says\n[phase refine]\nstart = naive\nrounds = 1\n" \
    "accept.best = faster\nmemory = board 4\n"                   \
    "[role coder]\nsees = task, base, plan\nreturns = file | schedule\n"

static void
what_c_does_better_is_said_as_a_schedule(void **state)
{
    struct unit *unit = *state;
    struct play says = {
        .recipe = SAYS,
        .script = CODER("two rows", "cost = 5") "=== coder\n```schedule\nY: r@p j@v\n```\n"};
    struct played played = play(unit, &says);
    must(unit, played.status);
    assert_int_equal(played.call_count, 2);
    assert_non_null(strstr(played.calls[1].prompt, "cost = 5"));
    assert_non_null(strstr(played.calls[1].prompt, "not expressible"));
    const struct store_candidate *last = &played.candidates[played.candidate_count - 2];
    assert_int_equal(last->kind, STORE_SCHEDULE);
    assert_non_null(strstr(last->schedule, "Y: r@p"));
    assert_string_equal(last->role, "coder");
    assert_non_null(strstr(played.result.kernel, "cost = 5")); /* it is slower, so that stays */
    replays(unit, &says);
}

static void
what_cannot_be_said_is_kept(void **state)
{
    struct unit *unit = *state;
    struct play says = {
        .recipe = SAYS,
        .script = CODER("two rows", "cost = 5") "=== coder\nNot expressible: no lookup tables\n"};
    struct played played = play(unit, &says);
    must(unit, played.status);
    assert_int_equal(played.call_count, 2);
    assert_int_equal(played.result.unusable, 0);
    assert_int_equal(events_of(&played, "lesson", "missing"), 1);
    replays(unit, &says);
}

/* ---- several of one role ---- */

static const char two_planners[] =
    "recipe = two\n[phase refine]\nstart = naive\nrounds = 1\nplans = 2\ntake = max(high)\n"
    "[role planner]\nsees = task, base\ncount = 2\n"
    "returns = list of { title, change, low, high }, at most 2\n"
    "[role critic]\nsees = task, base\ncount = 2\nreturns = text\n"
    "[role coder]\nsees = task, base, plan\nreturns = file\n";

/* Lists are one list, advice is told by each, and all are asked before anybody is heard. */
static void
several_speak_as_one(void **state)
{
    struct unit *unit = *state;
    struct play two = {
        .recipe = two_planners,
        .script = "=== planner\n[{\"title\":\"first\",\"change\":\"a\",\"low\":1,\"high\":1.2}]\n"
                  "=== planner\n[{\"title\":\"second\",\"change\":\"b\",\"low\":1,\"high\":1.5}]\n"
                  "=== critic\ntoo many loads\n=== critic\ntoo few lanes\n" CODER("a", "cost = 5")};
    struct played played = play(unit, &two);
    must(unit, played.status);
    assert_string_equal(played.roles, "planner planner critic critic coder");
    const char *asked = played.calls[4].prompt;
    assert_non_null(strstr(asked, "second")); /* the highest of both lists */
    assert_null(strstr(asked, "first"));
    assert_non_null(strstr(asked, "too many loads"));
    assert_non_null(strstr(asked, "too few lanes"));
    replays(unit, &two);
}

static void
most_of_them_decide(void **state)
{
    struct unit *unit = *state;
    struct play three = {.recipe = "recipe = three\n[phase refine]\nstart = naive\nrounds = 3\n"
                                   "[role controller]\nsees = task, base\ncount = 3\n"
                                   "returns = text\n"
                                   "[role coder]\nsees = task, base, plan\nreturns = file\n",
                         .script = "=== controller\nstop now\n=== controller\ncontinue\n"
                                   "=== controller\ncontinue as it is\n"
                                   "=== controller\nstop\n=== controller\nstop: enough\n"
                                   "=== controller\ncontinue\n"
                                   "=== coder repeat\n" KERNEL("a", "cost = 5")};
    struct played played = play(unit, &three);
    must(unit, played.status);
    assert_string_equal(played.roles, "controller controller controller coder controller "
                                      "controller controller");
    assert_string_equal(played.result.stopped, "controller");
}

/* Two debuggers answer the same failure; the first that is right ends it. */
static void
debuggers_try_in_turn(void **state)
{
    struct unit *unit = *state;
    struct play two = {.recipe = "recipe = two\n[phase refine]\nstart = naive\nrounds = 1\n"
                                 "repair = 1\naccept.best = faster\n"
                                 "[role coder]\nsees = task, base\nreturns = file\n"
                                 "[role debugger]\nwhen = failing\nsees = candidate, verdict\n"
                                 "count = 3\nreturns = file\n",
                       .script = CODER("a", "BROKEN = 1") DEBUGGER("b", "BROKEN = 2")
                           DEBUGGER("c", "cost = 6") DEBUGGER("d", "cost = 5")};
    struct played played = play(unit, &two);
    must(unit, played.status);
    assert_string_equal(played.roles, "coder debugger debugger debugger");
    assert_non_null(strstr(played.result.kernel, "cost = 6"));
    assert_null(candidate_with(&played, "cost = 5"));
    replays(unit, &two);
}

static void
coders_are_samples(void **state)
{
    struct unit *unit = *state;
    struct play two = {.recipe = "recipe = two\n[phase refine]\nstart = naive\nrounds = 1\n"
                                 "[role coder]\nsees = task, base\nreturns = file\n"
                                 "count = 2\nsamples = 2\n",
                       .script = CODER("a", "cost = 8") CODER("b", "cost = 7")
                           CODER("c", "cost = 5") CODER("d", "cost = 6")};
    struct played played = play(unit, &two);
    must(unit, played.status);
    assert_string_equal(played.roles, "coder coder coder coder");
    assert_non_null(strstr(played.result.kernel, "cost = 5"));
}

/* ---- transcripts ---- */

#define TALK(most)                                               \
    "recipe = talk\n[phase refine]\nstart = naive\nrounds = 4\n" \
    "memory = transcript " most "\naccept.base = any\n"          \
    "[role coder]\nsees = task, history, base\nreturns = file\n"

static const char four[] = CODER("the eldest idea", "cost = 8") CODER("a younger idea", "cost = 7")
    CODER("three", "cost = 6") CODER("four", "cost = 5");

static size_t
turns_in(const char *prompt)
{
    size_t count = 0;
    for (; (prompt = strstr(prompt, "\n--- answer\n")) != NULL; prompt++)
        count++;
    return count;
}

static void
a_role_goes_on_with_its_conversation(void **state)
{
    struct unit *unit = *state;
    struct play talk = {.recipe = TALK("2"), .script = four};
    struct played played = play(unit, &talk);
    must(unit, played.status);
    assert_int_equal(played.call_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(turns_in(played.calls[i].prompt), i < 2 ? i : 2);
    assert_non_null(strstr(played.calls[3].prompt, "a younger idea")); /* the oldest is forgotten */
    assert_null(strstr(played.calls[3].prompt, "the eldest idea"));
    replays(unit, &talk);
}

/* ---- what the archive has ---- */

static const char drafts[] = "recipe = drafts\n[phase draft]\npropose = builtin\nevals = 6\n";

static void
a_search_begins_with_what_the_archive_has(void **state)
{
    struct unit *unit = *state;
    static const char seeded[] = "recipe = seeded\n[phase refine]\nstart = naive\nrounds = 1\n"
                                 "seed = same program\n"
                                 "[role coder]\nsees = task, base, top 3\nreturns = file\n";
    static const char of_family[] = "recipe = seeded\n[phase refine]\nstart = naive\nrounds = 1\n"
                                    "seed = same family\n"
                                    "[role coder]\nsees = task, base, top 3\nreturns = file\n";
    must(unit, play(unit, &(struct play){.recipe = drafts, .archive = "seeds.db"}).status);
    struct play begins = {
        .recipe = seeded, .script = CODER("a", "cost = 50"), .archive = "seeds.db"};
    struct played played = play(unit, &begins);
    must(unit, played.status);
    assert_true(played.candidate_count > 2);
    assert_string_equal(played.candidates[1].proposer, "memory");
    replays(unit, &begins);
    /* of no other program, and not where nothing is said */
    begins.recipe = of_family;
    played = play(unit, &begins);
    must(unit, played.status);
    assert_int_equal(events_of(&played, "earlier", "phase refine"), 1);
    for (size_t i = 0; i < played.candidate_count; i++)
        assert_string_not_equal(played.candidates[i].proposer, "memory");
    played = play(unit, &(struct play){.recipe = drafts, .archive = "seeds.db"});
    must(unit, played.status);
    assert_int_equal(events_of(&played, "earlier", ""), 0);
    /* but of another one of the family, where that is wanted */
    begins.task = "another";
    played = play(unit, &begins);
    must(unit, played.status);
    assert_string_equal(played.candidates[1].proposer, "memory");
    replays(unit, &begins);
}

static const char *
family_of(struct unit *unit, const char *text)
{
    struct lang *lang = lang_parse(unit->arena, "test.op", text, strlen(text), unit->diags);
    return run_family(unit->arena, lang_program(lang, 0, NULL, 0, unit->diags));
}

static void
families_differ_in_more_than_numbers(void **state)
{
    struct unit *unit = *state;
    const char *first = family_of(unit, "in A: f32[64,8]; in B: f32[8,32]\n"
                                        "Y[i,j] = sum[k](A[i,k]*B[k,j]) * 1e-05\nout Y\n");
    const char *same = family_of(unit, "in P: f32[512,300]; in Q: f32[300,7]\n"
                                       "R[m,n] = sum[k](P[m,k]*Q[k,n]) * 0.25\nout R\n");
    const char *const others[] = {
        "in A: f64[64,8]; in B: f64[8,32]\nY[i,j] = sum[k](A[i,k]*B[k,j]) * 1e-05\nout Y\n",
        "in A: f32[64,8]; in B: f32[32,8]\nY[i,j] = sum[k](A[i,k]*B[j,k]) * 1e-05\nout Y\n",
        "in A: f32[64,8]; in B: f32[8,32]\nY[i,j] = max[k](A[i,k]*B[k,j]) * 1e-05\nout Y\n",
        "in A: f32[64,8]; in B: f32[8,32]\nY[i,j] = sum[k](A[i,k]*B[k,j])\nout Y\n"};
    assert_string_equal(first, same);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_string_not_equal(first, family_of(unit, others[i]));
}

/* ---- testers ---- */

#define TESTED(when)                                               \
    "recipe = tested\n[phase refine]\nstart = naive\nrounds = 2\n" \
    "accept.base = correct\naccept.best = faster\n"                \
    "[role coder]\nsees = task, base\nreturns = file\n"            \
    "[role tester]\nwhen = " when "\nsees = task, finalist\n"      \
    "returns = list of { pattern, sizes }, at most 4\n"            \
    "[phase finish]\nfinalists = 2\ncheck = tester's inputs\n"

#define PROPOSED                                                                       \
    "=== tester\n[{\"pattern\": \"X[i,j] = if(i == 0, 64, 0)\", \"sizes\": \"\"},\n"   \
    "{\"pattern\": \"Z[i] = 1\"}, {\"pattern\": \"reference \\\"/etc/passwd\\\"\"},\n" \
    "{\"sizes\": \"R=2\"}]\n"

/* What a tester proposes is asked of who would be given; nothing that it says is believed. */
static void
what_a_tester_proposes_is_judged(void **state)
{
    struct unit *unit = *state;
    struct play tested = {.recipe = TESTED("end"),
                          .script = PROPOSED CODER("a", "cost = 6") CODER("b", "cost = 5"),
                          .fake = {.weak = "cost = 5"}};
    struct played played = play(unit, &tested);
    must(unit, played.status);
    assert_string_equal(played.roles, "coder coder tester");
    assert_string_equal(candidate_with(&played, "cost = 5")->accepted, "best");
    assert_non_null(strstr(played.result.kernel, "cost = 6"));
    /* one of the four can be used: there is no Z, a file is no pattern, R may not have any size */
    assert_true(events_of(&played, "verdict", ", 1 proposed") > 0);
    assert_int_equal(events_of(&played, "lesson", "inputs"), 1);
    replays(unit, &tested);
}

/* One that broke a kernel is asked of every later run of the task. */
static void
what_broke_a_kernel_is_kept(void **state)
{
    struct unit *unit = *state;
    struct play tested = {.recipe = TESTED("start"),
                          .script = PROPOSED CODER("a", "cost = 6") CODER("b", "cost = 5"),
                          .fake = {.weak = "cost = 5"}};
    struct played played = play(unit, &tested);
    must(unit, played.status);
    assert_string_equal(played.roles, "tester coder coder");
    assert_null(strstr(played.result.kernel, "cost = 5"));
    struct play later = {.recipe = LINE,
                         .script = CODER("a", "cost = 6") CODER("b", "cost = 5"),
                         .fake = {.weak = "cost = 5"}};
    played = play(unit, &later);
    must(unit, played.status);
    assert_int_equal(events_of(&played, "inputs", "X[i,j]"), 1);
    assert_null(strstr(played.result.kernel, "cost = 5"));
    replays(unit, &later);
}

/* ---- parts ---- */

#define CUT                                                                \
    "recipe = cut\n[phase refine]\nstart = naive\nrounds = 1\nsplit = 4\n" \
    "accept.best = faster\n"                                               \
    "[role coder]\nsees = task, base\nreturns = file\n"

#define PART(title, words, from, to)                                       \
    "=== coder\n" title "\n```c\n#include <math.h>\nenum { " words " };\n" \
    "static float twice(float x) { return 2 * x; }\n"                      \
    "void kernel(" from ")\n{\n    " to "[0] = twice(X[0]);\n}\n```\n"

static const char pieces[] = PART("means", "cost = 3", "const float *restrict X, float *restrict M",
                                  "M") PART("exps", "cost = 4",
                                            "const float *restrict X, const float *restrict M, "
                                            "float *restrict Y",
                                            "Y") CODER("whole", "cost = 50");

/* Each part has a run of its own; what they come to is one kernel, and the verdict is on that. */
static void
parts_are_joined(void **state)
{
    struct unit *unit = *state;
    struct play cut = {.recipe = CUT, .script = pieces, .cases = 2, .evaluations = 12};
    struct played played = play(unit, &cut);
    must(unit, played.status);
    assert_string_equal(played.roles, "coder coder coder");
    assert_non_null(strstr(played.calls[0].system, "M[r:R]"));
    assert_null(strstr(played.calls[0].system, "exp(X"));
    assert_non_null(strstr(played.calls[1].system, "in M: f32[R]"));
    const struct store_candidate *joined = candidate_with(&played, "part2_kernel(in0, hone_");
    assert_non_null(joined);
    assert_string_equal(joined->role, "compose");
    assert_string_equal(joined->accepted, "best");
    assert_non_null(strstr(joined->kernel, "#define twice part1_twice"));
    assert_non_null(strstr(joined->kernel, "static float hone_between_1[40]"));
    assert_non_null(strstr(played.result.kernel, "part1_kernel"));
    assert_true(played.result.evaluations <= 12);
    assert_int_equal(events_of(&played, "share", "part "), 2);
    for (size_t i = 0; i < played.candidate_count; i++) /* a part is no kernel of the task */
        if (strstr(played.candidates[i].phase, ", part ") != NULL)
            assert_false(played.candidates[i].verdicts[0].whole);
    replays(unit, &cut);
}

/* Schedules of parts are lines of a schedule of the whole. */
static void
schedules_of_parts_are_one_schedule(void **state)
{
    struct unit *unit = *state;
    struct play cut = {.recipe =
                           "recipe = cut\n[phase refine]\nstart = naive\nrounds = 1\nsplit = 2\n"
                           "[role coder]\nsees = task, base\nreturns = schedule\n",
                       .script = "=== coder\n```schedule\nM: r@p j@v\n```\n"
                                 "=== coder\n```schedule\nY: r@p j@v\n```\n"
                                 "=== coder repeat\n```schedule\nY: r j\n```\n",
                       .fake = {.fast = "@p"}};
    struct played played = play(unit, &cut);
    must(unit, played.status);
    const struct store_candidate *joined = NULL;
    for (size_t i = 0; i < played.candidate_count; i++)
        if (!strcmp(played.candidates[i].role, "compose"))
            joined = &played.candidates[i];
    assert_non_null(joined);
    assert_int_equal(joined->kind, STORE_SCHEDULE);
    assert_non_null(strstr(joined->schedule, "M: r@p"));
    assert_non_null(strstr(joined->schedule, "Y: r@p"));
    replays(unit, &cut);
}

/* Calls are divided as evaluations are: the first part cannot use them up. */
static void
each_part_has_its_share(void **state)
{
    struct unit *unit = *state;
    struct play cut = {.recipe = "recipe = cut\n[phase refine]\nstart = naive\nrounds = 9\n"
                                 "split = 2\naccept.base = any\n"
                                 "[role coder]\nsees = task, base\nreturns = file\n",
                       .script = "=== coder repeat\n" KERNEL("again", "BROKEN = 1"),
                       .calls = 9,
                       .evaluations = 40};
    struct played played = play(unit, &cut);
    must(unit, played.status);
    size_t calls[3] = {0};
    for (size_t i = 0; i < played.call_count; i++)
        calls[strstr(played.calls[i].phase, "part 1")   ? 0
              : strstr(played.calls[i].phase, "part 2") ? 1
                                                        : 2]++;
    assert_int_equal(calls[0], 3);
    assert_int_equal(calls[1], 3);
    assert_int_equal(calls[2], 3);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(finalists_meet_in_windows),
        SCRATCH_TEST(who_wins_by_chance_is_not_given),
        SCRATCH_TEST(who_fails_at_the_end_gives_way),
        SCRATCH_TEST(one_thread_tells_where_all_cannot),
        SCRATCH_TEST(compiling_costs_no_evaluation),
        SCRATCH_TEST(a_sweep_tries_what_is_marked),
        SCRATCH_TEST(what_c_does_better_is_said_as_a_schedule),
        SCRATCH_TEST(what_cannot_be_said_is_kept),
        SCRATCH_TEST(several_speak_as_one),
        SCRATCH_TEST(most_of_them_decide),
        SCRATCH_TEST(debuggers_try_in_turn),
        SCRATCH_TEST(coders_are_samples),
        SCRATCH_TEST(a_role_goes_on_with_its_conversation),
        SCRATCH_TEST(a_search_begins_with_what_the_archive_has),
        UNIT_TEST(families_differ_in_more_than_numbers),
        SCRATCH_TEST(what_a_tester_proposes_is_judged),
        SCRATCH_TEST(what_broke_a_kernel_is_kept),
        SCRATCH_TEST(parts_are_joined),
        SCRATCH_TEST(schedules_of_parts_are_one_schedule),
        SCRATCH_TEST(each_part_has_its_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
