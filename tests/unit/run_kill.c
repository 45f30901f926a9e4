/* kill -9 at any moment: after `resume` the archive is that of an uninterrupted run, in everything
 * but times. The judge is a formula and the model a script, so that nothing but the kill differs.
 * HONE_KILLS says how often (20; `make soak`: 100). */
#include "fake_judge.h"
#include "scratch.h"

#include "base/file.h"
#include "base/rng.h"

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

#define SAYS(role, words)                                       \
    "=== " role "\n```c\nenum { " words " };\n"                 \
    "void kernel(const float *restrict X, float *restrict Y)\n" \
    "{\n    for (long i = 0; i < R * N; i++)\n        Y[i] = X[i];\n}\n```\n"

/* Replies of every kind: a win, a failure, a repair, nothing that can be used, a schedule. */
static const char *const script[] = {
    "=== planner repeat\n"
    "[{\"kind\":\"code\",\"title\":\"first\",\"change\":\"a\",\"low\":1.05,\"high\":1.1},"
    "{\"kind\":\"schedule\",\"title\":\"second\",\"change\":\"b\",\"low\":1.01,\"high\":1.5}]\n",
    "=== critic repeat\n{\"bottleneck\":\"x\",\"method\":\"y\",\"change\":\"z\",\"low\":1,"
    "\"high\":1.1}\n",
    "=== summariser repeat\n{\"when\":\"a\",\"do\":\"b\",\"gain\":1.1,\"snippet\":\"\"}\n",
    "=== tester repeat\n[{\"pattern\":\"X[i,j] = j\",\"sizes\":\"\"}]\n",
    SAYS("coder", "cost = 9"),
    "=== coder\nI would rather not.\n",
    "=== coder\n```schedule\nY: r@p j/v@u j@v\n```\n",
    SAYS("debugger", "BROKEN = 2"),
    SAYS("debugger", "cost = 7"),
    SAYS("coder", "BROKEN = 1"),
    SAYS("coder", "cost = 30"),
    SAYS("coder", "cost = 6"),
    SAYS("coder repeat", "cost = 8"),
    "=== debugger repeat\nI give up.\n",
};

/* ---- one process ---- */

static long until_kill = -1; /* ticks left */

static void
tick(void)
{
    if (until_kill >= 0 && until_kill-- == 0)
        kill(getpid(), SIGKILL);
}

static void
on_news(void *context, const struct run_news *news)
{
    (void)context;
    (void)news;
    tick();
}

static void
must(enum status status, struct diags *diags)
{
    if (status == STATUS_OK)
        return;
    diags_print(diags, stderr, false);
    _exit(9);
}

static struct store_run
new_run(void)
{
    return (struct store_run){.task = {.hash = "4f1c",
                                       .family = "f",
                                       .name = "norm",
                                       .canonical = "c",
                                       .source = program_text},
                              .target = "cpu",
                              .recipe = "hone",
                              .cases = "default; odd",
                              .machine_key = "m",
                              .started = 1e9};
}

/* What the process does that may be killed. */
static void
work(const char *archive, bool begun)
{
    struct arena *arena = arena_create();
    struct diags *diags = diags_create(arena, 0);
    struct unit unit = {.arena = arena, .diags = diags};
    struct fake fake = {.tick = tick};
    struct run_judge judge = fake_judge(&unit, &fake);
    struct store_options how = {.program = "hone 0.1", .now = 1e9};
    struct store_run run = new_run();
    struct store *store;
    struct llm *llm;
    struct llm_choice *models;
    size_t model_count;
    struct run_result result;
    struct llm_budget budget = llm_budget_without_limits();
    must(store_open(archive, &how, &store, diags), diags);
    if (begun)
        begun = store_run_find(store, arena, "last", &run, diags_create(arena, 1)) == STATUS_OK;
    if (begun && run.state == STORE_DONE)
        _exit(0);
    must(begun ? store_run_resume(store, run.id, diags) : store_run_begin(store, &run, diags),
         diags);
    must(llm_open(&(struct llm_options){.seed = 1}, &llm, diags), diags);
    must(llm_models_parse(llm, arena, "scripted:script", &models, &model_count, diags), diags);
    struct run_team team = {.recipe = recipe_find(arena, "hone", diags),
                            .llm = llm,
                            .models = models,
                            .model_count = model_count,
                            .budget = &budget,
                            .news = on_news};
    struct run_options options = {
        .lang = lang_parse(arena, "norm.op", program_text, strlen(program_text), diags),
        .cases = both,
        .case_count = 2,
        .target = target_find("cpu"),
        .machine = {.vector_bytes = 32, .registers = 16, .threads = 2, .l1 = 32768, .l2 = 524288},
        .threads = 1,
        .seed = 7,
        .evaluations = 40,
        .store = store,
        .run = &run,
        .mode = begun ? RUN_RESUME : RUN_FRESH,
        .family = "f",
        .machine_key = "m",
        .team = &team};
    must(run_optimize_by(arena, &judge, &options, &result, diags), diags);
    must(store_run_finish(store, run.id, STORE_DONE, result.stopped, result.number, 1e9, diags),
         diags);
    llm_close(llm);
    store_close(store);
    arena_destroy(arena);
}

/* True: it came to its end. */
static bool
in_a_process(const char *archive, bool begun, long ticks)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        until_kill = ticks;
        work(archive, begun);
        _exit(0);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
        fail_msg("exit code %d", WEXITSTATUS(status));
    assert_true(WIFEXITED(status) || WTERMSIG(status) == SIGKILL);
    return WIFEXITED(status);
}

/* ---- what is left ---- */

static void
put_candidates(struct unit *unit, struct buf *text, struct store *store, int64_t run)
{
    struct store_candidate *rows;
    size_t count;
    assert_int_equal(
        store_candidates(store, unit->arena, run, STORE_WHOLE, &rows, &count, unit->diags), 0);
    for (size_t i = 0; i < count; i++) {
        const struct store_candidate *row = &rows[i];
        buf_printf(text, "candidate %lld %s %s %s %s %s|%s lane %lld round %lld\n",
                   (long long)row->number, row->kernel_hash, row->proposer, row->phase, row->role,
                   row->accepted, row->why, (long long)row->lane, (long long)row->round);
        for (size_t k = 0; k < row->parent_count; k++)
            buf_printf(text, "  parent %lld\n", (long long)row->parents[k].number);
        for (size_t k = 0; k < row->verdict_count; k++) {
            const struct store_verdict *verdict = &row->verdicts[k];
            buf_printf(text, "  %s %s %.9g %d\n", verdict->status, verdict->reason,
                       verdict->time_us, verdict->whole);
        }
    }
}

static void
put_calls(struct unit *unit, struct buf *text, struct store *store, int64_t run)
{
    struct store_call *calls;
    struct store_event *events;
    size_t count;
    assert_int_equal(store_calls(store, unit->arena, run, STORE_WHOLE, &calls, &count, unit->diags),
                     0);
    for (size_t i = 0; i < count; i++)
        buf_printf(text, "call %lld %s %s %s\n%s\n%s\n%g %g\n", (long long)calls[i].ordinal,
                   calls[i].role, calls[i].request_hash, calls[i].outcome, calls[i].prompt,
                   calls[i].reply, calls[i].tokens.input, calls[i].tokens.output);
    assert_int_equal(store_events(store, unit->arena, run, 0, 0, &events, &count, unit->diags), 0);
    for (size_t i = 0; i < count; i++)
        buf_printf(text, "event %lld %s %s %s\n", (long long)events[i].seq, events[i].kind,
                   events[i].key, events[i].answer);
}

/* Everything but times of day and durations. */
static const char *
story(struct unit *unit, const char *archive)
{
    static const char *const kinds[] = {"insights", "traps", "pairs", "rules", "cases", "skills"};
    struct store_options how = {.access = STORE_READ, .program = "hone 0.1", .now = 1e9};
    struct store_run run;
    struct store *store;
    struct buf text = buf_in(unit->arena);
    assert_int_equal(store_open(archive, &how, &store, unit->diags), 0);
    assert_int_equal(store_run_find(store, unit->arena, "last", &run, unit->diags), 0);
    buf_printf(&text, "best %lld, %lld candidates, %lld verdicts, %lld calls, %s\n",
               (long long)run.best, (long long)run.candidates, (long long)run.verdicts,
               (long long)run.calls, run.stopped_by);
    put_candidates(unit, &text, store, run.id);
    put_calls(unit, &text, store, run.id);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct store_item *items;
        size_t count;
        assert_int_equal(
            store_items(store, unit->arena, kinds[k], NULL, 0, &items, &count, unit->diags), 0);
        for (size_t i = 0; i < count; i++)
            buf_printf(&text, "item %s %s %s %lld\n", items[i].kind, items[i].key, items[i].text,
                       (long long)items[i].stats.uses);
    }
    store_close(store);
    return text.data;
}

/* The first line in which they differ. */
static void
must_be_equal(const char *whole, const char *killed, const char *when)
{
    while (*whole && *killed) {
        size_t length = strcspn(whole, "\n");
        if (length != strcspn(killed, "\n") || strncmp(whole, killed, length) != 0)
            fail_msg("%s: %.*s\nand %.*s", when, (int)length, whole, (int)strcspn(killed, "\n"),
                     killed);
        whole += length + (whole[length] == '\n');
        killed += length + (killed[length] == '\n');
    }
    assert_string_equal(whole, killed);
}

static void
killed_runs_end_as_others_do(void **state)
{
    struct unit *unit = *state;
    const char *kills = getenv("HONE_KILLS");
    long often = kills ? atol(kills) : 20;
    struct rng rng = rng_stream(11, "kill");
    struct buf text = buf_in(unit->arena);
    for (size_t i = 0; i < sizeof script / sizeof *script; i++)
        buf_puts(&text, script[i]);
    assert_int_equal(file_write("script", text.data, text.length, unit->diags), STATUS_OK);
    assert_true(in_a_process("whole.db", false, -1));
    const char *whole = story(unit, "whole.db");
    assert_non_null(strstr(whole, "cost = 6"));
    for (long n = 0; n < often;) {
        const char *archive = arena_printf(unit->arena, "killed%ld.db", n);
        struct buf when = buf_in(unit->arena);
        bool begun = false;
        for (bool ended = false; !ended;) {
            long ticks = (long)rng_below(&rng, 80);
            bool last = n >= often;
            ended = in_a_process(archive, begun, last ? -1 : ticks);
            buf_printf(&when, "%s%ld", begun ? ", " : "killed after ", last ? -1 : ticks);
            n += !ended;
            begun = true;
        }
        must_be_equal(whole, story(unit, archive), when.data);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {SCRATCH_TEST(killed_runs_end_as_others_do)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
