/* The loop, with a judge that answers from what was measured before, or from a formula: the same
 * answers lead to the same decisions, and the decisions are those that doc/optimize.md describes.
 */
#include "../judge/judge_test.h"
#include "fake_judge.h"
#include "scratch.h"

#include "base/hash.h"
#include "base/rng.h"
#include "coder/coder.h"
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

/* Six are known from the start, then two at a time; they are looked at in the order in which they
 * were built, and none that was not, but one left over. */
static void
known_candidates_are_built_ahead(void **state)
{
    struct unit *unit = *state;
    struct trace trace;
    struct run_options options = usual_options(unit, &trace);
    struct buf told = buf_in(unit->arena), ahead = buf_in(unit->arena), look = buf_in(unit->arena);
    struct fake fake = {.told = &told};
    struct run_result result;
    unsigned together = 0, most = 0;
    options.case_count = 1;
    optimize(unit, &fake, &options, &result);
    for (char *line, *next = told.data; (line = strsep(&next, "\n")) != NULL && *line;) {
        bool is_look = strncmp(line, "look", 4) == 0;
        together = is_look ? 0 : together + 1;
        most = together > most ? together : most;
        buf_printf(is_look ? &look : &ahead, "%s\n", strchr(line, ' '));
    }
    assert_int_equal(most, 6);
    assert_true(look.length <= ahead.length);
    assert_memory_equal(look.data, ahead.data, look.length);
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

    options.seconds = 0.4; /* more of it where the first kernel of a case took long to come */
    optimize(unit, &(struct fake){.opening = 0.08}, &options, &result);
    assert_string_equal(result.stopped, "time");
    assert_true(result.seconds < 0.37);

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

/* In the flags that it was measured with; the file is judged once more. */
static void
the_plain_c_is_given_where_nothing_is_faster(void **state)
{
    struct unit *unit = *state;
    struct trace trace;
    struct run_options options = usual_options(unit, &trace);
    struct run_result result;
    struct fake fake = {.naive_us = 5};
    optimize(unit, &fake, &options, &result);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(result.cases[i].best->proposer, RUN_PLAIN);
        assert_null(result.cases[i].best->schedule);
        assert_float_equal(result.cases[i].best->us, 5, 0);
    }
    assert_true(strncmp(result.kernel, "//! flags -Ofast\n", 17) == 0);
    assert_non_null(strstr(result.kernel, "the plain C of the operator"));
    assert_int_equal(fake.verdicts, 2);
    assert_int_equal(fake.looks, result.evaluations);

    options.flags = "-mno-avx512f"; /* the plain C was measured without them */
    fake = (struct fake){.naive_us = 5};
    optimize(unit, &fake, &options, &result);
    assert_string_equal(result.cases[1].best->proposer, "builtin");
    assert_int_equal(fake.verdicts, 1);
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

/* ---- drafts ---- */

enum { DRAFTED = 64, DRAFTS = 5 };

struct draft {
    const char *kernel; /* NULL: it cannot be emitted */
    double us;          /* by the model */
    unsigned number;    /* as drawn */
};

/* False: the schedule is illegal. */
static bool
draft_of(struct unit *unit, const struct run_options *options, const struct program *program,
         const char *schedule, struct draft *draft)
{
    const struct source source = {"schedule", schedule, strlen(schedule)};
    const struct coder_options how = {.vector_bytes = options->machine.vector_bytes};
    struct diags *diags = diags_create(unit->arena, 0);
    struct buf kernel = buf_in(unit->arena);
    struct schedule *read = coder_read(unit->arena, program, &source, &how, diags);
    if (read == NULL)
        return false;
    draft->us = coder_estimate_us(read, &options->machine);
    draft->kernel = coder_emit(&kernel, unit->arena, read, diags) ? kernel.data : NULL;
    return true;
}

static int
by_estimate(const void *left, const void *right)
{
    const struct draft *a = left, *b = right;
    if (a->us != b->us)
        return a->us < b->us ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

/* The usual schedule, then the five that the model likes best of those drawn. */
static size_t
drafts_of(struct unit *unit, const struct run_options *options, const struct program *program,
          struct draft drafts[1 + DRAFTED])
{
    struct coder_space *space = coder_space_open(unit->arena, program, &options->machine);
    struct rng rng = rng_stream(options->seed, "draft");
    struct coder_sketch usual = coder_sketch(space, &(struct coder_genome){{0}});
    size_t count = 1;
    assert_true(draft_of(unit, options, program, usual.text, &drafts[0]));
    for (unsigned i = 0; i < DRAFTED; i++) {
        struct coder_genome genome = {{0}};
        for (size_t h = 0; h < usual.hole_count; h++)
            if (rng_uniform(&rng) < 0.4)
                genome.gene[usual.holes[h].gene] = (uint8_t)rng_below(&rng, usual.holes[h].answers);
        drafts[count].number = i;
        count +=
            draft_of(unit, options, program, coder_sketch(space, &genome).text, &drafts[count]);
    }
    assert_true(count > 1 + DRAFTED / 4); /* or the five are no choice */
    qsort(drafts + 1, count - 1, sizeof *drafts, by_estimate);
    return 1 + DRAFTS;
}

/* What is tried from this candidate on; a kernel that was tried already is not tried again. Returns
 * how many were. */
static size_t
assert_drafted(struct unit *unit, const struct run_options *options, const struct run_case *of,
               size_t at)
{
    struct draft drafts[1 + DRAFTED];
    size_t count = drafts_of(unit, options, of->program, drafts), first = at;
    for (size_t i = 0; i < count; i++) {
        bool known = drafts[i].kernel == NULL;
        for (size_t k = 0; k < at && !known; k++)
            known = strcmp(of->tried[k].kernel, drafts[i].kernel) == 0;
        if (known)
            continue;
        assert_true(at < of->tried_count);
        assert_string_equal(of->tried[at].proposer, "builtin");
        assert_string_equal(of->tried[at].kernel, drafts[i].kernel);
        at++;
    }
    return at - first;
}

static void
what_the_model_likes_comes_first(void **state)
{
    struct unit *unit = *state;
    struct trace trace;
    struct run_options options = usual_options(unit, &trace);
    struct run_result first, result;
    size_t drafted = 0;
    for (options.seed = 1; options.seed <= 4; options.seed++) {
        optimize(unit, &(struct fake){0}, &options, &first);
        for (size_t i = 0; i < 2; i++)
            drafted += assert_drafted(unit, &options, &first.cases[i], 0);
    }
    assert_true(drafted >= 4 * 2 * 3);
    struct run_start start = start_of(unit, first.kernel);
    options.start = &start;
    optimize(unit, &(struct fake){0}, &options, &result);
    for (size_t i = 0; i < 2; i++) {
        size_t begun = 0;
        while (strcmp(result.cases[i].tried[begun].proposer, "start") == 0)
            begun++;
        assert_true(begun > 0);
        assert_true(assert_drafted(unit, &options, &result.cases[i], begun) > 0);
    }
}

/* ---- again ---- */

static struct store *
open_archive(struct unit *unit, struct store_run *run)
{
    struct store_options how = {.program = "hone 0.1", .now = 1e9};
    struct store *store;
    *run = (struct store_run){.task = {.hash = "4f1c", .family = "f", .name = "norm"},
                              .target = "cpu",
                              .recipe = "builtin",
                              .cases = "default; odd",
                              .machine_key = "m",
                              .started = 1e9};
    assert_int_equal(store_open("archive.db", &how, &store, unit->diags), STATUS_OK);
    assert_int_equal(store_run_begin(store, run, unit->diags), STATUS_OK);
    return store;
}

/* What was measured is in the archive; the same decisions follow from it alone. */
static void
recorded_timings_lead_to_the_same_end(void **state)
{
    struct unit *unit = *state;
    struct judge_test *test = judge_test_create();
    struct trace first, second;
    struct store_run run;
    struct run_options options = usual_options(unit, &first);
    struct run_result measured, repeated;
    options.evaluations = 5;
    options.store = open_archive(unit, &run);
    options.run = &run;
    judge_test_must(test, run_optimize(unit->arena, test->judge, &options, &measured, test->diags));
    judge_test_destroy(test);

    struct run_judge nobody = {.seconds = fake_seconds,
                               .context = &(struct fake){.arena = unit->arena}};
    struct store *store = options.store;
    options = usual_options(unit, &second);
    options.evaluations = 5;
    options.store = store;
    options.run = &run;
    options.mode = RUN_REPLAY;
    assert_int_equal(run_optimize_by(unit->arena, &nobody, &options, &repeated, unit->diags), 0);
    assert_null(repeated.difference);
    assert_false(repeated.over);
    assert_string_equal(first.text.data, second.text.data);
    assert_string_equal(measured.kernel, repeated.kernel);
    options.seed = 8; /* other questions than those that were answered */
    assert_int_not_equal(run_optimize_by(unit->arena, &nobody, &options, &repeated, unit->diags),
                         0);
    assert_non_null(repeated.difference);
    store_close(store);
}

/* ---- the archive ---- */

static void
the_archive_has_the_whole_story(void **state)
{
    struct unit *unit = *state;
    struct trace trace;
    struct run_options options = usual_options(unit, &trace);
    struct store_run run;
    struct store_candidate *rows, best;
    size_t count;
    struct run_result first, result;
    optimize(unit, &(struct fake){0}, &options, &first);
    options.store = open_archive(unit, &run);
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

/* Four layers are tuned alone, the heaviest longest, and the whole with what is left; the archive
 * has no schedule of the task where it has one of a layer. */
static void
large_programs_go_by_layers(void **state)
{
    static const char text[] =
        "op network\n"
        "in X: f32[16,64]; in A: f32[96,64]; in B: f32[80,96]; in C: f32[112,80]; in D: "
        "f32[48,112]\n"
        "P[n,k] = sum[c](X[n,c]*A[k,c])\nPa = relu(P); Pb = exp(Pa); Pc = Pb + Pa\n"
        "Q[n,k] = sum[c](Pc[n,c]*B[k,c])\nQa = relu(Q); Qb = exp(Qa); Qc = Qb + Qa\n"
        "R[n,k] = sum[c](Qc[n,c]*C[k,c])\nRa = relu(R); Rb = exp(Ra); Rc = Rb + Ra\n"
        "S[n,k] = sum[c](Rc[n,c]*D[k,c])\nSa = relu(S); Sb = exp(Sa); Y = Sb + Sa\nout Y\n";
    struct unit *unit = *state;
    struct trace trace, again;
    struct run_options options = usual_options(unit, &trace);
    struct fake fake = {0}, second = {0};
    struct run_result result;
    struct store_run run;
    struct store_candidate *rows;
    size_t count, layers = 0;
    options.lang = lang_parse(unit->arena, "network.op", text, strlen(text), unit->diags);
    options.case_count = 1;
    options.evaluations = 40;
    optimize(unit, &fake, &options, &result);
    assert_int_equal(fake.parts, 4);
    assert_int_equal(fake.looks, result.evaluations);
    assert_true(result.evaluations <= 40);
    assert_true(result.cases[0].evaluations >= 40 - 24); /* at most six tenths were for layers */
    assert_true(result.cases[0].evaluations <= 40 - 4 * 4);
    options.context = &again;
    again = (struct trace){unit->arena, buf_in(unit->arena)};
    optimize(unit, &second, &options, &result);
    assert_string_equal(trace.text.data, again.text.data);

    options.store = open_archive(unit, &run);
    options.run = &run;
    options.family = "other";
    options.machine_key = "m";
    optimize(unit, &(struct fake){0}, &options, &result);
    assert_int_equal(store_candidates(options.store, unit->arena, run.id, STORE_WHOLE, &rows,
                                      &count, unit->diags),
                     STATUS_OK);
    for (size_t i = 0; i < count; i++)
        if (rows[i].kind == STORE_SOURCE && strcmp(rows[i].phase, "file") != 0) {
            layers++; /* what it took is no time of the task, and nobody has compared it */
            assert_string_equal(rows[i].verdicts[0].status, "built");
            assert_string_equal(rows[i].role, "layer");
            assert_string_equal(rows[i].verdicts[0].cases[0].name, rows[i].phase);
            assert_string_not_equal(rows[i].phase, "default");
        }
    assert_true(layers >= 16);
    store_close(options.store);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(same_seed_same_decisions),
        UNIT_TEST(known_candidates_are_built_ahead),
        UNIT_TEST(budgets_end_it),
        UNIT_TEST(who_is_refused_gives_way),
        UNIT_TEST(the_plain_c_is_given_where_nothing_is_faster),
        UNIT_TEST(own_files_are_their_schedules),
        UNIT_TEST(a_kernel_is_to_be_beaten),
        UNIT_TEST(what_the_model_likes_comes_first),
        SCRATCH_TEST(recorded_timings_lead_to_the_same_end),
        SCRATCH_TEST(the_archive_has_the_whole_story),
        SCRATCH_TEST(large_programs_go_by_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
