/* The loop, with a judge that answers from what was measured before, or from a formula: the same
 * answers lead to the same decisions, and the decisions are those that doc/optimize.md describes.
 */
#include "../judge/judge_test.h"
#include "scratch.h"

#include "base/hash.h"
#include "run/run.h"

#include <math.h>

static const char program_text[] = "op norm\n"
                                   "dim R=24, N=200\n"
                                   "in X: f32[R,N]\n"
                                   "M[r] = mean[j](X[r,j])\n"
                                   "Y[r,j] = exp(X[r,j] - M[r])\n"
                                   "out Y\n"
                                   "case odd R=3 N=37\n";

static const size_t both[] = {0, 1};

/* ---- what was decided ---- */

struct trace {
    struct arena *arena;
    struct buf text; /* a line for each candidate */
};

static void
note(void *context, const struct run_progress *progress)
{
    struct trace *trace = context;
    buf_printf(&trace->text, "%s %u %s %.9g\n%s\n", progress->program->case_name,
               progress->evaluations, progress->better ? "best" : "-", progress->best_us,
               progress->schedule);
}

static struct run_options
usual_options(struct unit *unit, struct trace *trace)
{
    struct lang *lang =
        lang_parse(unit->arena, "norm.op", program_text, strlen(program_text), unit->diags);
    assert_non_null(lang);
    *trace = (struct trace){unit->arena, buf_in(unit->arena)};
    return (struct run_options){
        .lang = lang,
        .cases = both,
        .case_count = 2,
        .target = target_find("cpu"),
        .machine = {.vector_bytes = 32, .registers = 16, .threads = 2, .l1 = 32768, .l2 = 524288},
        .threads = 1,
        .seed = 7,
        .evaluations = 24,
        .progress = note,
        .context = trace};
}

/* ---- a judge by formula ---- */

struct fake {
    struct arena *arena;
    double clock;
    double light_us;           /* of every case */
    const char *slow, *fast;   /* a kernel whose text has these words costs 1000 us, or 1 us */
    const char *wrong_at_last; /* a file with these words is refused, in case `odd` */
    const char *restless;      /* one with these words gives other bits each time, in `odd` */
    unsigned looks, compares, verdicts;
};

struct fake_task {
    struct judge_setup setup;
};

/* Between 10 and 20 us, by what the text is. */
static double
cost_of(const struct fake *fake, const char *text)
{
    char hash[HASH_TEXT];
    if (fake->slow && strstr(text, fake->slow))
        return 1000;
    if (fake->fast && strstr(text, fake->fast))
        return 1;
    hash_sha256(text, strlen(text), hash);
    return 10 + 10 * (double)(strtoul(arena_strndup(fake->arena, hash, 6), NULL, 16) % 997) / 997;
}

static double
fake_seconds(void *context)
{
    struct fake *fake = context;
    return fake->clock += 0.001;
}

static enum status
fake_open(void *context, const struct judge_setup *setup, struct judge_task **task,
          struct diags *diags)
{
    struct fake *fake = context;
    struct fake_task *made = arena_alloc(fake->arena, sizeof *made);
    (void)diags;
    made->setup = *setup;
    *task = (struct judge_task *)made;
    return STATUS_OK;
}

static void
fake_close(void *context, struct judge_task *task)
{
    (void)context;
    (void)task;
}

static void
fake_report(struct fake *fake, const struct judge_setup *setup, const char *text,
            struct judge_report *report, struct diags *diags)
{
    static const char *const naive = "naive";
    *report = (struct judge_report){.status = JUDGE_BUILT,
                                    .reason = "",
                                    .details = "",
                                    .flags = "",
                                    .deterministic = true,
                                    .same_bits = true,
                                    .case_count = setup->case_count};
    report->cases = arena_array(fake->arena, setup->case_count, sizeof *report->cases);
    for (size_t i = 0; i < setup->case_count; i++) {
        double us = cost_of(fake, text);
        struct judge_pair *pair = arena_alloc(fake->arena, sizeof *pair);
        *pair = (struct judge_pair){.name = naive, .flags = "", .time = {.median = 40}};
        pair->speedup = 40 / us;
        report->cases[i] = (struct judge_case){
            .program = lang_program(setup->lang, setup->cases[i], NULL, 0, diags),
            .timed = true,
            .time = {.median = us, .min = us, .low = us, .high = us, .samples = 1},
            .light = {.us = fake->light_us, .limit = "memory", .level = "memory"},
            .share = fake->light_us / us,
            .pairs = setup->no_baseline ? NULL : pair,
            .pair_count = !setup->no_baseline};
    }
}

static enum status
fake_look(void *context, struct judge_task *task, struct arena *arena, const char *text,
          struct judge_kernel **kernel, struct judge_report *report, struct diags *diags)
{
    struct fake *fake = context;
    double *us = arena_alloc(arena, sizeof *us);
    fake->looks++;
    *us = cost_of(fake, text);
    *kernel = (struct judge_kernel *)us;
    fake_report(fake, &((struct fake_task *)task)->setup, text, report, diags);
    return STATUS_OK;
}

static void
fake_drop(void *context, struct judge_kernel *kernel)
{
    (void)context;
    (void)kernel;
}

static enum status
fake_compare(void *context, struct judge_task *task, struct judge_kernel *champion,
             struct judge_kernel *challenger, bool *faster, struct diags *diags)
{
    struct fake *fake = context;
    (void)task;
    (void)diags;
    fake->compares++;
    *faster = *(double *)challenger < *(double *)champion;
    return STATUS_OK;
}

static enum status
fake_verdict(void *context, struct judge_task *task, struct arena *arena, const char *text,
             struct judge_report *report, struct diags *diags)
{
    struct fake *fake = context;
    const struct judge_setup *setup = &((struct fake_task *)task)->setup;
    (void)arena;
    fake->verdicts++;
    fake_report(fake, setup, text, report, diags);
    report->status = JUDGE_CORRECT;
    if (fake->restless && strstr(text, fake->restless))
        report->same_bits = setup->cases[setup->case_count - 1] != 1;
    if (fake->wrong_at_last && strstr(text, fake->wrong_at_last)) {
        report->status = JUDGE_WRONG;
        report->reason = "case odd, 3 of 111 elements of Y";
        report->case_name = "odd";
    }
    return STATUS_OK;
}

static struct run_judge
fake_judge(struct unit *unit, struct fake *fake)
{
    fake->arena = unit->arena;
    fake->light_us = fake->light_us > 0 ? fake->light_us : 0.1;
    return (struct run_judge){.context = fake,
                              .seconds = fake_seconds,
                              .open = fake_open,
                              .close = fake_close,
                              .look = fake_look,
                              .drop = fake_drop,
                              .compare = fake_compare,
                              .verdict = fake_verdict};
}

static void
optimize(struct unit *unit, struct fake *fake, const struct run_options *options,
         struct run_result *result)
{
    struct run_judge judge = fake_judge(unit, fake);
    if (run_optimize_by(unit->arena, &judge, options, result, unit->diags) != STATUS_OK)
        fail_msg("%s", unit_printed(unit, false));
}

/* ---- decisions ---- */

static const char *
decisions(struct unit *unit, uint64_t seed, struct run_result *result)
{
    struct trace trace;
    struct run_options options = usual_options(unit, &trace);
    struct fake fake = {0};
    options.seed = seed;
    optimize(unit, &fake, &options, result);
    assert_int_equal(fake.looks, result->evaluations);
    return trace.text.data;
}

static void
same_seed_same_decisions(void **state)
{
    struct unit *unit = *state;
    struct run_result a, b, c;
    const char *first = decisions(unit, 7, &a), *second = decisions(unit, 7, &b);
    assert_string_equal(first, second);
    assert_string_equal(a.kernel, b.kernel);
    assert_string_not_equal(first, decisions(unit, 8, &c));
    for (size_t i = 0; i < a.case_count; i++)
        for (size_t k = 0; k < a.cases[i].tried_count; k++)
            assert_true(a.cases[i].tried[k].us >= a.cases[i].best->us);
}

static void
budgets_end_it(void **state)
{
    struct unit *unit = *state;
    struct trace trace;
    struct run_options options = usual_options(unit, &trace);
    struct run_result result;
    options.evaluations = 6;
    optimize(unit, &(struct fake){0}, &options, &result);
    assert_int_equal(result.evaluations, 6);
    assert_string_equal(result.stopped, "evals");

    options.evaluations = 1000;
    options.patience = 5;
    optimize(unit, &(struct fake){0}, &options, &result);
    assert_true(result.evaluations < 200);
    assert_string_equal(result.stopped, "no progress");

    options.patience = 1000;
    options.seconds = 0.02; /* the clock ticks by a millisecond each time it is read */
    optimize(unit, &(struct fake){0}, &options, &result);
    assert_string_equal(result.stopped, "time");

    options.seconds = 0.2; /* a part of it is the final judgement's */
    optimize(unit, &(struct fake){0}, &options, &result);
    assert_string_equal(result.stopped, "time");
    assert_true(result.seconds < 0.9 * options.seconds);

    options.seconds = 0;
    options.until_light = 0.5;
    optimize(unit, &(struct fake){.light_us = 8}, &options, &result);
    assert_string_equal(result.stopped, "light");
    for (size_t i = 0; i < 2; i++)
        assert_true(8 / result.cases[i].best->us >= 0.5);

    options.until_light = 1;
    options.until_gain = 2.5; /* naive takes 40 us */
    struct fake fake = {0};
    optimize(unit, &fake, &options, &result);
    assert_string_equal(result.stopped, "gain");
    for (size_t i = 0; i < 2; i++)
        assert_true(40 / result.cases[i].best->us >= 2.5);
    assert_int_equal(fake.verdicts, 3); /* once in each case, and the file */
}

/* ---- the last word ---- */

static const struct run_candidate *
second_best(const struct run_case *of)
{
    const struct run_candidate *second = NULL;
    for (size_t i = 0; i < of->tried_count; i++)
        if (&of->tried[i] != of->best && (!second || of->tried[i].us < second->us))
            second = &of->tried[i];
    return second;
}

/* The comment above the kernel of a candidate: what its file can be told by. */
static const char *
title_of(struct unit *unit, const struct run_candidate *candidate)
{
    return arena_strndup(unit->arena, candidate->kernel,
                         (size_t)(strstr(candidate->kernel, "*/") - candidate->kernel));
}

static void
who_is_refused_gives_way(void **state)
{
    struct unit *unit = *state;
    struct trace trace;
    struct run_options options = usual_options(unit, &trace);
    struct run_result first, result;
    optimize(unit, &(struct fake){0}, &options, &first);
    const char *title = title_of(unit, first.cases[1].best);
    const char *next = second_best(&first.cases[1])->schedule;

    options.evaluations = first.evaluations;
    optimize(unit, &(struct fake){.wrong_at_last = title}, &options, &result);
    assert_string_equal(result.cases[0].best->schedule, first.cases[0].best->schedule);
    assert_string_equal(result.cases[1].best->schedule, next);
    assert_null(strstr(result.kernel, title));

    options.deterministic = true;
    optimize(unit, &(struct fake){.restless = title}, &options, &result);
    assert_string_equal(result.cases[1].best->schedule, next);
    options.deterministic = false;
    optimize(unit, &(struct fake){.restless = title}, &options, &result);
    assert_string_equal(result.cases[1].best->schedule, first.cases[1].best->schedule);
}

/* ---- where it begins ---- */

static struct run_start
start_of(struct unit *unit, const char *text)
{
    struct source *source = arena_alloc(unit->arena, sizeof *source);
    struct run_start start;
    *source = (struct source){"mine.c", text, strlen(text)};
    run_start_read(unit->arena, source, &start);
    return start;
}

static void
own_files_are_their_schedules(void **state)
{
    struct unit *unit = *state;
    struct trace trace;
    struct run_options options = usual_options(unit, &trace);
    struct run_result first, result;
    optimize(unit, &(struct fake){0}, &options, &first);
    struct run_start start = start_of(unit, first.kernel);
    assert_int_equal(start.line_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(start.lines[i].case_name, first.cases[i].program->case_name);
        assert_string_equal(start.lines[i].schedule, first.cases[i].best->schedule);
    }
    options.start = &start;
    options.evaluations = 2;
    optimize(unit, &(struct fake){0}, &options, &result);
    assert_string_equal(result.kernel, first.kernel);
    assert_string_equal(result.cases[0].best->proposer, "start");
    assert_int_equal(result.evaluations, 2);
}

static const char mine[] = "//! flags -O3\n"
                           "/* my own */\n"
                           "void\n"
                           "kernel(const float *restrict X, float *restrict Y)\n"
                           "{\n"
                           "}\n";

static void
a_kernel_is_to_be_beaten(void **state)
{
    struct unit *unit = *state;
    struct trace trace;
    struct run_options options = usual_options(unit, &trace);
    struct run_result result;
    struct run_start start = start_of(unit, mine);
    assert_int_equal(start.line_count, 0);
    options.start = &start;
    optimize(unit, &(struct fake){.fast = "my own"}, &options, &result);
    assert_string_equal(result.kernel, mine); /* nothing is faster: it comes back as it is */
    assert_null(result.cases[0].best->schedule);

    optimize(unit, &(struct fake){.slow = "my own"}, &options, &result);
    assert_null(strstr(result.kernel, "my own"));

    /* beaten in one case alone */
    optimize(unit, &(struct fake){.fast = "norm, case odd", .slow = "norm, case default"}, &options,
             &result);
    assert_null(result.cases[0].best->schedule);
    assert_non_null(result.cases[1].best->schedule);
    assert_int_equal(strncmp(result.kernel, "//! flags -O3\n", 14), 0);
    assert_non_null(strstr(result.kernel, "#if R == 24 && N == 200\n/* from mine.c */"));
}

/* ---- recording and repeating ---- */

struct event {
    enum { LOOK, COMPARE, VERDICT } what;
    const char *text;
    struct judge_report report;
    bool faster;
};

struct recorder {
    struct arena *arena;
    struct run_judge real;
    struct event *events;
    size_t count, at; /* at: the next to be repeated */
    double clock;
};

static struct event *
add_event(struct recorder *recorder)
{
    recorder->events = arena_grow(recorder->arena, recorder->events, recorder->count,
                                  recorder->count + 1, sizeof *recorder->events);
    return &recorder->events[recorder->count++];
}

static double
record_seconds(void *context)
{
    struct recorder *recorder = context;
    return recorder->real.seconds(recorder->real.context);
}

static enum status
record_open(void *context, const struct judge_setup *setup, struct judge_task **task,
            struct diags *diags)
{
    struct recorder *recorder = context;
    return recorder->real.open(recorder->real.context, setup, task, diags);
}

static void
record_close(void *context, struct judge_task *task)
{
    struct recorder *recorder = context;
    recorder->real.close(recorder->real.context, task);
}

static void
record_drop(void *context, struct judge_kernel *kernel)
{
    struct recorder *recorder = context;
    recorder->real.drop(recorder->real.context, kernel);
}

static enum status
record_look(void *context, struct judge_task *task, struct arena *arena, const char *text,
            struct judge_kernel **kernel, struct judge_report *report, struct diags *diags)
{
    struct recorder *recorder = context;
    enum status status =
        recorder->real.look(recorder->real.context, task, arena, text, kernel, report, diags);
    *add_event(recorder) = (struct event){LOOK, text, *report, false};
    return status;
}

static enum status
record_compare(void *context, struct judge_task *task, struct judge_kernel *champion,
               struct judge_kernel *challenger, bool *faster, struct diags *diags)
{
    struct recorder *recorder = context;
    enum status status =
        recorder->real.compare(recorder->real.context, task, champion, challenger, faster, diags);
    *add_event(recorder) = (struct event){.what = COMPARE, .text = "", .faster = *faster};
    return status;
}

static enum status
record_verdict(void *context, struct judge_task *task, struct arena *arena, const char *text,
               struct judge_report *report, struct diags *diags)
{
    struct recorder *recorder = context;
    enum status status =
        recorder->real.verdict(recorder->real.context, task, arena, text, report, diags);
    *add_event(recorder) = (struct event){VERDICT, text, *report, false};
    return status;
}

static const struct event *
repeat(struct recorder *recorder, int what, const char *text)
{
    assert_true(recorder->at < recorder->count);
    const struct event *event = &recorder->events[recorder->at++];
    assert_int_equal(event->what, what);
    assert_string_equal(event->text, text);
    return event;
}

static double
repeat_seconds(void *context)
{
    struct recorder *recorder = context;
    return recorder->clock += 1e-6;
}

static enum status
repeat_open(void *context, const struct judge_setup *setup, struct judge_task **task,
            struct diags *diags)
{
    (void)setup;
    (void)diags;
    *task = context;
    return STATUS_OK;
}

static enum status
repeat_look(void *context, struct judge_task *task, struct arena *arena, const char *text,
            struct judge_kernel **kernel, struct judge_report *report, struct diags *diags)
{
    (void)task;
    (void)arena;
    (void)diags;
    *report = repeat(context, LOOK, text)->report;
    *kernel = report->status == JUDGE_BUILT ? context : NULL;
    return STATUS_OK;
}

static enum status
repeat_compare(void *context, struct judge_task *task, struct judge_kernel *champion,
               struct judge_kernel *challenger, bool *faster, struct diags *diags)
{
    (void)task;
    (void)champion;
    (void)challenger;
    (void)diags;
    *faster = repeat(context, COMPARE, "")->faster;
    return STATUS_OK;
}

static enum status
repeat_verdict(void *context, struct judge_task *task, struct arena *arena, const char *text,
               struct judge_report *report, struct diags *diags)
{
    (void)task;
    (void)arena;
    (void)diags;
    *report = repeat(context, VERDICT, text)->report;
    return STATUS_OK;
}

static void
recorded_timings_lead_to_the_same_end(void **state)
{
    struct unit *unit = *state;
    struct judge_test *test = judge_test_create();
    struct trace first, second;
    struct run_options options = usual_options(unit, &first);
    struct run_result measured, repeated;
    struct recorder recorder = {.arena = unit->arena, .real = run_real_judge(test->judge)};
    struct run_judge records = {&recorder,   record_seconds, record_open,    record_close,
                                record_look, record_drop,    record_compare, record_verdict};
    options.evaluations = 5;
    judge_test_must(test, run_optimize_by(unit->arena, &records, &options, &measured, test->diags));
    judge_test_destroy(test);

    struct run_judge repeats = {&recorder,   repeat_seconds, repeat_open,    fake_close,
                                repeat_look, fake_drop,      repeat_compare, repeat_verdict};
    options = usual_options(unit, &second);
    options.evaluations = 5;
    assert_int_equal(run_optimize_by(unit->arena, &repeats, &options, &repeated, unit->diags), 0);
    assert_int_equal(recorder.at, recorder.count);
    assert_string_equal(first.text.data, second.text.data);
    assert_string_equal(measured.kernel, repeated.kernel);
}

/* ---- the archive ---- */

static void
the_archive_has_the_whole_story(void **state)
{
    struct unit *unit = *state;
    struct trace trace;
    struct run_options options = usual_options(unit, &trace);
    struct store_options how = {.program = "hone 0.1", .now = 1e9};
    struct store_run run = {.task = {.hash = "4f1c", .family = "f", .name = "norm"},
                            .target = "cpu",
                            .recipe = "builtin",
                            .cases = "default; odd",
                            .machine_key = "m",
                            .started = 1e9};
    struct store_candidate *rows, best;
    size_t count;
    struct run_result first, result;
    optimize(unit, &(struct fake){0}, &options, &first);
    assert_int_equal(store_open("archive.db", &how, &options.store, unit->diags), STATUS_OK);
    assert_int_equal(store_run_begin(options.store, &run, unit->diags), STATUS_OK);
    options.run = &run;
    options.family = "other"; /* nothing earlier is asked for */
    options.machine_key = "m";
    optimize(unit, &(struct fake){.wrong_at_last = title_of(unit, first.cases[1].best)}, &options,
             &result);
    assert_int_equal(store_run_finish(options.store, run.id, STORE_DONE, result.stopped,
                                      result.number, 1e9 + 1, unit->diags),
                     STATUS_OK);
    assert_int_equal(store_candidates(options.store, unit->arena, run.id, STORE_WHOLE, &rows,
                                      &count, unit->diags),
                     STATUS_OK);
    assert_int_equal(count, result.evaluations + 1);
    assert_int_equal(
        store_best(options.store, unit->arena, run.id, STORE_WHOLE, &best, unit->diags), STATUS_OK);
    assert_int_equal(best.number, result.number);
    assert_int_equal(best.kind, STORE_SOURCE);
    assert_int_equal(best.kernel_length, strlen(result.kernel));
    assert_memory_equal(best.kernel, result.kernel, best.kernel_length);
    assert_int_equal(best.parent_count, 2);
    const struct store_verdict *verdict = &best.verdicts[best.verdict_count - 1];
    assert_true(verdict->whole);
    assert_int_equal(verdict->case_count, 2);
    assert_string_equal(verdict->cases[1].speedups[0].baseline, "naive");
    assert_non_null(strstr(verdict->json, "\"status\":\"correct\""));

    size_t demoted = 0; /* judged twice: at first sight, and with the file */
    for (size_t i = 0; i < count; i++)
        if (rows[i].verdict_count == 2) {
            demoted++;
            assert_string_equal(rows[i].verdicts[0].status, "correct");
            assert_string_equal(rows[i].verdicts[1].status, "wrong");
            assert_string_equal(rows[i].verdicts[1].cases[0].name, "odd");
        }
    assert_int_equal(demoted, 1);
    store_close(options.store);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(same_seed_same_decisions),
        UNIT_TEST(budgets_end_it),
        UNIT_TEST(who_is_refused_gives_way),
        UNIT_TEST(own_files_are_their_schedules),
        UNIT_TEST(a_kernel_is_to_be_beaten),
        UNIT_TEST(recorded_timings_lead_to_the_same_end),
        SCRATCH_TEST(the_archive_has_the_whole_story),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
