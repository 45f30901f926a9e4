/* The verbs that look at the archive, on runs as models leave them: written here through the store,
 * read by the program. */
#include "store_unit.h"

#include "base/clock.h"
#include "base/proc.h"
#include "base/text.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>

/* ---- running the program ---- */

static const char *
program(struct unit *unit)
{
    char path[4096];
    if (getenv("HONE"))
        return getenv("HONE");
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(length > 0);
    path[length] = '\0';
    *strstr(path, "/tests/unit/") = '\0'; /* it lies in build/MODE */
    return arena_printf(unit->arena, "%s/hone", path);
}

struct answer {
    int code;
    const char *out, *err;
};

/* hone with these words; an archive is in the folder. */
static struct answer
hone(struct unit *unit, const char *const *words)
{
    const char *argv[16] = {program(unit)};
    size_t count = 1;
    while (*words != NULL)
        argv[count++] = *words++;
    argv[count++] = "--archive";
    argv[count++] = "archive.db";
    struct proc_request request = {.argv = argv, .seconds = 60};
    struct proc_result result;
    assert_int_equal(proc_run(unit->arena, &request, &result), STATUS_OK);
    return (struct answer){result.exit_code, result.out, result.err};
}

#define HONE(unit, ...) hone(unit, (const char *const[]){__VA_ARGS__, NULL})

/* The words are in the text, in this order. */
static void
says(const char *text, const char *words)
{
    if (strstr(text, words) == NULL)
        print_message("'%s' is not in\n%s\n", words, text);
    assert_non_null(strstr(text, words));
}

static void
says_not(const char *text, const char *words)
{
    if (strstr(text, words) != NULL)
        print_message("'%s' is in\n%s\n", words, text);
    assert_null(strstr(text, words));
}

static size_t
longest_line(const char *text)
{
    size_t longest = 0;
    while (*text) {
        size_t columns = 0;
        for (; *text && *text != '\n'; text++)
            columns += ((unsigned char)*text & 0xc0) != 0x80;
        longest = columns > longest ? columns : longest;
        text += *text == '\n';
    }
    return longest;
}

/* ---- a run with a model ---- */

struct made {
    struct store *store;
    struct store_run run;
    int64_t ids[32]; /* by number */
    int64_t call;
};

static struct store_candidate
row(struct made *made, const char *role, const char *proposer, const char *why, const char *kernel)
{
    return (struct store_candidate){.run = made->run.id,
                                    .kind = STORE_SOURCE,
                                    .proposer = proposer,
                                    .phase = "improve",
                                    .role = role,
                                    .why = why,
                                    .kernel = kernel,
                                    .kernel_length = strlen(kernel),
                                    .added = made->run.started + 5};
}

static void
judge(struct unit *unit, struct made *made, int64_t id, const char *status, const char *reason,
      const char *name, double us)
{
    struct store_speedup naive = {"naive", 10500 / us};
    struct store_case timed = {.name = name,
                               .sizes = "H=8 S=512",
                               .median_us = us,
                               .min_us = us,
                               .low_us = us * 0.995,
                               .high_us = us * 1.005,
                               .light = 2710 / us,
                               .speedups = &naive,
                               .speedup_count = 1};
    const char *json = arena_printf(
        unit->arena,
        "{\"status\":\"%s\",\"cases\":[{\"name\":\"default\",\"time_us\":{\"median\":%g},"
        "\"light_us\":2710,\"limit\":\"compute\",\"baselines\":[{\"name\":\"naive\",\"flags\":"
        "\"gcc -Ofast\",\"time_us\":{\"median\":10500}}]}]}",
        status, us);
    struct store_verdict verdict = {.status = status,
                                    .reason = reason,
                                    .json = json,
                                    .whole = true,
                                    .judged = made->run.started + 6,
                                    .cases = us > 0 ? &timed : NULL,
                                    .case_count = us > 0};
    store_unit_must(unit, store_verdict_add(made->store, id, &verdict, unit->diags));
}

/* Adds, judges (us of 0: `status` with its reason) and decides. */
static int64_t
add(struct unit *unit, struct made *made, struct store_candidate *candidate, int64_t parent,
    double us, const char *status, const char *decision)
{
    struct store_parent above = {.candidate = parent >= 0 ? made->ids[parent] : 0};
    candidate->parents = &above;
    candidate->parent_count = parent >= 0;
    store_unit_must(unit, store_candidate_add(made->store, candidate, unit->diags));
    made->ids[candidate->number] = candidate->id;
    judge(unit, made, candidate->id, us > 0 ? "correct" : status,
          us > 0 ? "" : "the last row of case tail", "default", us);
    if (*decision)
        store_unit_must(unit,
                        store_candidate_decide(made->store, candidate->id, decision, unit->diags));
    return candidate->number;
}

static void
add_call(struct unit *unit, struct made *made, const char *role, const char *prompt,
         const char *reply)
{
    struct store_call call = {.run = made->run.id,
                              .phase = "improve",
                              .role = role,
                              .label = role,
                              .model = "test:MODEL",
                              .provider = "test",
                              .wire = "openai",
                              .request_hash = prompt,
                              .system = "You write kernels.",
                              .prompt = prompt,
                              .begun = made->run.started + 3};
    store_unit_must(unit, store_call_begin(made->store, &call, unit->diags));
    call.reply = reply;
    call.outcome = "ok";
    call.finish = "stop";
    call.served = "MODEL";
    call.tokens = (struct store_tokens){7900, 6100, 0, 3800, 0};
    call.cost = 0.034;
    call.total_ms = 41000;
    call.ended = made->run.started + 4;
    store_unit_must(unit, store_call_end(made->store, &call, unit->diags));
    made->call = call.id;
}

static void
add_event(struct unit *unit, struct made *made, const char *kind, const char *key,
          const char *answer)
{
    struct store_event event = {
        .run = made->run.id, .kind = kind, .key = key, .answer = answer, .seconds = 9};
    store_unit_must(unit, store_event_add(made->store, &event, unit->diags));
}

static void
add_drafts(struct unit *unit, struct made *made)
{
    static const struct {
        const char *schedule;
        double us;
    } drafts[] = {{"O: h@p i/8 acc d j@v\n", 6000},
                  {"O: h@p i/32 acc d j@v\n", 4020},
                  {"O: h i/32 acc d j@v\n", 7000},
                  {"O: h i/32 acc d j@v\nP: i\n", 0}};
    for (size_t i = 0; i < sizeof drafts / sizeof *drafts; i++) {
        struct store_candidate draft = row(made, "", "builtin", "", "void kernel(void) {}\n");
        draft.kind = STORE_SCHEDULE;
        draft.phase = "default";
        draft.schedule = drafts[i].schedule;
        add(unit, made, &draft, -1, drafts[i].us, "wrong", "");
    }
}

static struct made
begin(struct unit *unit)
{
    struct made made = {.store = store_unit_open(unit), .run = store_unit_run()};
    made.run.task.name = "attention";
    made.run.recipe = "hone";
    made.run.model = "test:MODEL";
    made.run.machine = "{\"threads\":2,\"vector_bits\":256}";
    made.run.seed = 7;
    made.run.started = clock_wall() - 400;
    store_unit_must(unit, store_run_begin(made.store, &made.run, unit->diags));
    return made;
}

/* Numbers: 0-3 drafts, 4 accepted, 5 accepted, 6 best (a sweep), 7 wrong, 8 slower, 9 in lane B,
 * 10-12 tries of the sweep. */
static struct made
make_run(struct unit *unit)
{
    struct made made = begin(unit);
    add_drafts(unit, &made);
    add_call(unit, &made, "planner", "PLAN PROMPT", "PLAN REPLY");
    struct store_candidate packed =
        row(&made, "coder", "test:MODEL", "K^T tile kept packed across query blocks",
            "int a;\nint b;\nvoid kernel(void) {}\n");
    add(unit, &made, &packed, 1, 3840, "", "accepted");
    add_call(unit, &made, "coder", "CODE PROMPT", "CODE REPLY \033[31m");
    struct store_candidate shared =
        row(&made, "coder", "test:MODEL",
            "Two query blocks share each K tile. The loop reloads it otherwise.",
            "int a;\nint c;\nvoid kernel(void) {}\n");
    shared.call = made.call;
    shared.expected_low = 1.05;
    shared.expected_high = 1.12;
    add(unit, &made, &shared, 4, 3610, "", "accepted");
    struct store_candidate swept = row(&made, "sweep", "builtin", "BQ=12 BK=96", "int d;\n");
    add(unit, &made, &swept, 5, 3380, "", "accepted");
    struct store_candidate wrong = row(&made, "coder", "test:MODEL", "one pass over K, V", "x\n");
    add(unit, &made, &wrong, 5, 0, "wrong", "dropped");
    struct store_candidate slow =
        row(&made, "coder", "test:MODEL", "prefetch the next K tile", "y\n");
    add(unit, &made, &slow, 4, 3990, "", "slower");
    struct store_candidate lane =
        row(&made, "coder", "test:MODEL", "exp2 with the scale folded into Q", "z\n");
    lane.lane = 1;
    add(unit, &made, &lane, 1, 3880, "", "accepted, lane B");
    for (int i = 0; i < 3; i++) {
        struct store_candidate vain = row(&made, "sweep", "builtin", "BQ=8", "w\n");
        add(unit, &made, &vain, 5, 3700 + i, "", "slower");
    }
    add_event(
        unit, &made, "compare",
        arena_printf(unit->arena, "%.16s %.16s default", packed.kernel_hash, shared.kernel_hash),
        "{\"faster\":1,\"slower\":0,\"ratio\":0.94,\"low\":0.936,\"high\":0.951}");
    add_event(unit, &made, "profile", arena_strndup(unit->arena, shared.kernel_hash, 16),
              "{\"figures\":[{\"name\":\"loads_per_fma\",\"value\":1.1,\"unit\":\"\"}]}");
    return made;
}

static const char *
name_of(struct unit *unit, const struct made *made, int number)
{
    return arena_printf(unit->arena, "%s.%d", made->run.name, number);
}

static void
finish(struct unit *unit, struct made *made)
{
    store_unit_must(unit, store_run_finish(made->store, made->run.id, STORE_DONE, "evals", 6,
                                           made->run.started + 347, unit->diags));
    store_close(made->store);
}

/* ---- show ---- */

static void
runs_are_listed(void **state)
{
    struct unit *unit = *state;
    struct made made = make_run(unit);
    finish(unit, &made);
    struct answer answer = HONE(unit, "show");
    assert_int_equal(answer.code, 0);
    says(answer.out, made.run.name);
    says(answer.out, "attention   hone     test:MODEL   3.38 ms    80 %   3.1x");
    says(answer.out, "0.07   done");
    says(answer.out, "6 min");
    says(answer.out, "1 of 1 runs, 13 candidates");
    says(HONE(unit, "show", "--task", "atten").out, made.run.name);
    says_not(HONE(unit, "show", "--task", "softmax").out, made.run.name);
    answer = HONE(unit, "show", "--json");
    says(answer.out, "\"task\":\"attention\",\"recipe\":\"hone\",\"model\":\"test:MODEL\"");
    says(answer.out, "\"best_us\":3380");
    says(answer.out, "\"state\":\"done\"");
}

static void
a_run_is_a_tree(void **state)
{
    struct unit *unit = *state;
    struct made made = make_run(unit);
    finish(unit, &made);
    setenv("LC_ALL", "C.UTF-8", 1);
    struct answer answer = HONE(unit, "show", "last");
    assert_int_equal(answer.code, 0);
    says(answer.out, "attention  recipe hone, test:MODEL, 2 threads, seed 7");
    says(answer.out, "done, 5:47, 0.07 USD\n");
    says(answer.out, arena_printf(unit->arena, "\n  4.02 ms  %s.1", made.run.name));
    says(answer.out, "case default: 4 schedules, best O: h@p i/32 acc d j@v\n");
    says(answer.out, "\n  ├─ 3.84 ms  .4 ");
    says(answer.out, "\n  │  ├─ 3.61 ms  .5 ");
    says(answer.out, "\n  │  │  ├─ 3.38 ms  .6 ");
    says(answer.out, "\n  │  │  ├─ 3.70 ms  .10 ");
    says(answer.out, "3 more tries, none kept\n");
    says(answer.out, "\n  │  │  └─ wrong  .7 ");
    says(answer.out, "the last row of case tail");
    says(answer.out, "\n  │  └─ 3.99 ms  .8 ");
    says(answer.out, "\n  └─ 3.88 ms  .9 ");
    says(answer.out, "5 %  accepted\n");
    says(answer.out, "7 %  best\n");
    says(answer.out, "4 %  slower\n");
    says(answer.out, "accepted, lane B\n");
    says(answer.out, "9 proposals: 4 accepted, 4 slower, 1 wrong.");
    assert_true(longest_line(answer.out) <= 100);
    setenv("LC_ALL", "C", 1);
    says(HONE(unit, "show", made.run.name).out, "\n  |  |- 3.61 ms  .5 ");
    says(HONE(unit, "show", "best").out, "\n  `- 3.88 ms  .9 ");
    answer = HONE(unit, "show", "last", "--json");
    says(answer.out, arena_printf(unit->arena, "\"id\":\"%s.5\",\"parent\":\"%s.4\"", made.run.name,
                                  made.run.name));
    says(answer.out, "\"calls\":[{\"id\":0,\"role\":\"planner\"");
    says(answer.out, "\"tokens\":{\"in\":7900,\"cached\":6100,\"out\":3800}");
}

static void
times_of_other_cases_say_so(void **state)
{
    struct unit *unit = *state;
    struct made made = make_run(unit);
    struct store_parent above = {.candidate = made.ids[4]};
    struct store_candidate odd = row(&made, "coder", "test:MODEL", "only odd", "u\n");
    odd.parents = &above;
    odd.parent_count = 1;
    store_unit_must(unit, store_candidate_add(made.store, &odd, unit->diags));
    judge(unit, &made, odd.id, "correct", "", "odd", 0.5);
    finish(unit, &made);
    setenv("LC_ALL", "C", 1);
    struct answer answer = HONE(unit, "show", "last");
    says(answer.out, "`- odd 500 ns  .13 "); /* the last of its siblings, however fast */
    answer = HONE(unit, "explain", name_of(unit, &made, 13));
    says(answer.out, "came to be: 500 ns in case odd");
    says_not(answer.out, "faster than .4"); /* which was not timed there */
}

static void
a_candidate_is_told(void **state)
{
    struct unit *unit = *state;
    struct made made = make_run(unit);
    finish(unit, &made);
    struct answer answer = HONE(unit, "show", name_of(unit, &made, 5));
    assert_int_equal(answer.code, 0);
    says(answer.out, "  correct  3.61 ms [3.59, 3.63]  75 %  6 % faster than its parent .4 [5.2, "
                     "6.8], accepted\n");
    says(answer.out, "coder, test:MODEL, phase improve, call 1, 7.9k in (6.1k cached), 3.8k out, "
                     "0.034 USD");
    says(answer.out, "\"Two query blocks share each K tile.");
    says(answer.out, "expected 5 to 12 %, got 6 %");
    says(answer.out, "to .4: 1 lines removed, 1 added");
    says(answer.out, "loads per fma 1.1");
    says(HONE(unit, "show", name_of(unit, &made, 5), "--diff").out, "-int b;\n+int c;\n");
    answer = HONE(unit, "show", name_of(unit, &made, 5), "--code");
    assert_string_equal(answer.out, "int a;\nint c;\nvoid kernel(void) {}\n");
    says(HONE(unit, "show", name_of(unit, &made, 5), "--prompt").out, "CODE PROMPT");
    answer = HONE(unit, "show", name_of(unit, &made, 5), "--reply");
    assert_string_equal(answer.out, "CODE REPLY ?[31m\n"); /* nothing that moves a terminal */
    says(HONE(unit, "show", "last.best", "--verdict").out, "\"limit\":\"compute\"");
    says(HONE(unit, "show", "last.best").out, name_of(unit, &made, 6));
    says(HONE(unit, "show", name_of(unit, &made, 7)).out, "  reason  the last row of case tail");
    answer = HONE(unit, "show", name_of(unit, &made, 5), "--json");
    says(answer.out, "\"kernel\":\"int a;");
    says(answer.out, "\"verdict\":{\"status\":\"correct\"");
    says(answer.out, "\"reply\":\"CODE REPLY");
}

static void
calls_are_listed(void **state)
{
    struct unit *unit = *state;
    struct made made = make_run(unit);
    finish(unit, &made);
    struct answer answer = HONE(unit, "show", "last", "--prompts");
    says(answer.out, "planner   improve   test:MODEL   7.9k     6.1k   3.8k   0.034   41 s   ok");
    says(answer.out, "2 calls, 16k tokens in (12k cached), 7.6k out, 0.07 USD.");
    answer = HONE(unit, "show", "last", "--call", "0");
    says(answer.out, "You write kernels.");
    says(answer.out, "PLAN PROMPT");
    says(answer.out, "PLAN REPLY");
    answer = HONE(unit, "show", "last", "--call", "2");
    assert_int_equal(answer.code, 2);
    says(answer.err, "--prompts lists them");
}

static void
words_find_candidates(void **state)
{
    struct unit *unit = *state;
    struct made made = make_run(unit);
    finish(unit, &made);
    struct answer answer = HONE(unit, "show", "--find", "prefetch tile");
    assert_int_equal(answer.code, 0);
    says(answer.out, name_of(unit, &made, 8));
    says(answer.out, "prefetch the next K tile");
    says(HONE(unit, "show", "--find", "prefetch", "--json").out, "{\"found\":[{\"candidate\":");
    answer = HONE(unit, "show", "--find", "xyzzy");
    assert_int_equal(answer.code, 1);
    says(answer.err, "no candidate has these words");
}

/* ---- explain, diff ---- */

static void
a_run_is_explained(void **state)
{
    struct unit *unit = *state;
    struct made made = make_run(unit);
    finish(unit, &made);
    struct answer answer = HONE(unit, "explain", "last");
    assert_int_equal(answer.code, 0);
    says(answer.out, "How attention came to 3.38 ms\n\n1   The limit is arithmetic: no kernel can "
                     "need less than 2.71 ms here, with 2 threads.");
    says(answer.out, "Plain");
    says(answer.out, "10.5 ms (gcc -Ofast).");
    says(answer.out, "builtin reached 4.02 ms in 4 measurements (3 of them correct); its first "
                     "took 6.00 ms.");
    says(answer.out, "`h@p` instead of `h` in O (1.7x: .1 against .2)");
    says(answer.out, "test:MODEL was asked 2 times (planner 1, coder 1): 16k tokens in, 7.6k out, "
                     "0.07 USD.");
    says(answer.out, ".4, coder, \"K^T tile kept packed across query blocks\": 4.02 -> 3.84 ms");
    says(answer.out, ".5, coder, \"Two query blocks share each K tile\": 3.84 -> 3.61 ms");
    says(answer.out, "Expected 5 to 12");
    says(answer.out, "Its profile: loads per fma");
    says(answer.out, ".6, sweep, \"BQ=12 BK=96\": 3.61 -> 3.38 ms");
    says(answer.out, "Beside the way: .9");
    says(answer.out, "It ended because the evaluations were used up. It is at 80 % of the speed of "
                     "light.");
    says(answer.out, "Refused: one pass over K, V (.7, wrong), prefetch the next K tile (.8, 4 % "
                     "slower).");
    assert_true(longest_line(answer.out) <= 100);
}

static void
a_candidate_is_explained(void **state)
{
    struct unit *unit = *state;
    struct made made = make_run(unit);
    finish(unit, &made);
    struct answer answer = HONE(unit, "explain", name_of(unit, &made, 5));
    assert_int_equal(answer.code, 0);
    says(answer.out, "came to be: 3.61 ms, accepted\n\n1   .1 was made by builtin, as schedule 2 "
                     "of case default: 4.02 ms.");
    says(answer.out, "\n2   .4, coder");
    says(answer.out, "\n3   .5, coder");
    says(answer.out, "From it came .6 (3.38 ms, best), .7 (wrong, dropped)");
    says(HONE(unit, "explain", "last", "--json").out, "\"text\":\"How attention came to");
}

static void
two_candidates_are_compared(void **state)
{
    struct unit *unit = *state;
    struct made made = make_run(unit);
    finish(unit, &made);
    struct answer answer = HONE(unit, "diff", name_of(unit, &made, 4), name_of(unit, &made, 5));
    assert_int_equal(answer.code, 0);
    says(answer.out, "correct  3.84 ms [3.82 ms, 3.86 ms]");
    says(answer.out, "[5.2, 6.8] (measured side by side)\n");
    says(answer.out, "-int b;\n+int c;\n");
    answer = HONE(unit, "diff", name_of(unit, &made, 0), name_of(unit, &made, 1));
    says(answer.out, "(each measured alone)");
    says(answer.out, "schedules\n");
    says(answer.out, "-O: h@p i/8 acc d j@v\n+O: h@p i/32 acc d j@v\n");
    says(answer.out, "the kernels are the same, byte for byte\n");
    answer = HONE(unit, "diff", name_of(unit, &made, 4), name_of(unit, &made, 5), "--json");
    says(answer.out, "\"gain\":1.06");
    says(answer.out, "\"side_by_side\":true");
    store_unit_execute("archive.db", "PRAGMA user_version;");
    FILE *file = fopen("mine.c", "w");
    fputs("int a;\n", file);
    fclose(file);
    answer = HONE(unit, "diff", name_of(unit, &made, 5), "mine.c");
    says(answer.out, "mine.c  a file: hone judge");
    says(answer.out, "-void kernel(void) {}\n");
    assert_int_equal(HONE(unit, "diff", "mine.c", "other.c").code, 2);
}

/* ---- say, add, watch ---- */

static void
a_running_run_listens(void **state)
{
    struct unit *unit = *state;
    struct made made = make_run(unit);
    FILE *file = fopen("mine.c", "w");
    fputs("void kernel(void) {}\n", file);
    fclose(file);
    struct answer answer = HONE(unit, "say", "last", "try 8 rows");
    assert_int_equal(answer.code, 0);
    assert_string_equal(answer.out, "noted; the next planner and coder will see it\n");
    answer = HONE(unit, "add", made.run.name, "mine.c");
    assert_int_equal(answer.code, 0);
    says(answer.out, "the run judges it next");
    struct store_note *notes;
    size_t count;
    store_unit_must(unit, store_inbox_take(made.store, unit->arena, made.run.id, 5, &notes, &count,
                                           unit->diags));
    assert_int_equal(count, 2);
    assert_string_equal(notes[0].kind, "say");
    assert_string_equal(notes[0].text, "try 8 rows");
    assert_string_equal(notes[1].kind, "add");
    assert_string_equal(notes[1].text, "void kernel(void) {}\n");
    assert_string_equal(notes[1].file, "mine.c");
    assert_int_equal(HONE(unit, "say", "last", " ").code, 2);
    assert_int_equal(HONE(unit, "add", "last", "nothing.c").code, 2);
    assert_int_equal(HONE(unit, "say", "nobody", "x").code, 2);
    says(HONE(unit, "show", "last").out, "running");
    says(HONE(unit, "explain", "last").out, "It is still running.");
    finish(unit, &made);
    answer = HONE(unit, "say", "last", "too late");
    assert_int_equal(answer.code, 2);
    says(answer.err, "is done and listens no more");
    answer = HONE(unit, "add", "last", "mine.c");
    assert_int_equal(answer.code, 2);
    says(answer.err, "--start mine.c");
}

static void
a_stopped_run_is_told_so(void **state)
{
    struct unit *unit = *state;
    struct made made = make_run(unit);
    store_close(made.store); /* which stops it */
    struct answer answer = HONE(unit, "say", "last", "try 8 rows");
    assert_int_equal(answer.code, 0);
    says(answer.out, "when it is resumed");
}

/* The run goes on while the program looks. */
static void
a_run_is_followed(void **state)
{
    struct unit *unit = *state;
    struct made made = make_run(unit);
    int told[2];
    assert_int_equal(pipe(told), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(told[1], STDOUT_FILENO);
        dup2(told[1], STDERR_FILENO);
        close(told[0]);
        close(told[1]);
        execl(program(unit), "hone", "show", made.run.name, "--watch", "--archive", "archive.db",
              (char *)NULL);
        _exit(127);
    }
    close(told[1]);
    struct store_candidate late = row(&made, "coder", "test:MODEL", "late", "v\n");
    char text[65536];
    size_t length = 0;
    for (int i = 0; i < 8; i++) { /* whenever it began to look, some come later */
        usleep(300 * 1000);
        add(unit, &made, &late, 6, 3300 - i, "", "");
    }
    finish(unit, &made);
    for (ssize_t count; (count = read(told[0], text + length, sizeof text - 1 - length)) > 0;)
        length += (size_t)count;
    text[length] = '\0';
    close(told[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0)
        print_message("%s\n", text);
    assert_int_equal(status, 0);
    says(text, "coder: correct 3.29 ms");
    says(text, "done, 5:47");
}

/* ---- mistakes ---- */

static void
mistakes_are_told(void **state)
{
    struct unit *unit = *state;
    struct answer answer = HONE(unit, "show");
    assert_int_equal(answer.code, 0);
    says(answer.out, "hone optimize FILE.op makes the first");
    assert_string_equal(HONE(unit, "show", "--json").out,
                        "{\"runs\":[],\"benchmarks\":[],\"of\":0,\"candidates\":0,\"bytes\":0}\n");
    answer = HONE(unit, "show", "k7f3");
    assert_int_equal(answer.code, 2);
    says(answer.err, "no archive yet");
    assert_int_equal(access("archive.db", F_OK), -1); /* looking makes none */
    answer = HONE(unit, "say", "k7f3", "x");
    assert_int_equal(answer.code, 2);
    assert_int_equal(access("archive.db", F_OK), -1);
    struct made made = make_run(unit);
    finish(unit, &made);
    assert_int_equal(HONE(unit, "show", "zzzz").code, 2);
    assert_int_equal(HONE(unit, "show", "last.99").code, 2);
    says(HONE(unit, "show", "last", "--code").err, "write hone show last.best --code");
    says(HONE(unit, "show", "last.1", "--prompts").err, "belongs to a run");
    says(HONE(unit, "show", "last", "--all").err, "looks at all runs");
    says(HONE(unit, "show", "last.1", "--reply").err, "was not proposed by a model");
    says(HONE(unit, "show", "last.1", "--diff").err, "has no parent");
    FILE *file = fopen("archive.db", "w");
    fputs("nonsense", file);
    fclose(file);
    answer = HONE(unit, "show");
    assert_int_equal(answer.code, 2);
    says(answer.err, "archive.db");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(runs_are_listed),
        SCRATCH_TEST(a_run_is_a_tree),
        SCRATCH_TEST(times_of_other_cases_say_so),
        SCRATCH_TEST(a_candidate_is_told),
        SCRATCH_TEST(calls_are_listed),
        SCRATCH_TEST(words_find_candidates),
        SCRATCH_TEST(a_run_is_explained),
        SCRATCH_TEST(a_candidate_is_explained),
        SCRATCH_TEST(two_candidates_are_compared),
        SCRATCH_TEST(a_running_run_listens),
        SCRATCH_TEST(a_stopped_run_is_told_so),
        SCRATCH_TEST(a_run_is_followed),
        SCRATCH_TEST(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
