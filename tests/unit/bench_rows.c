/* The summary of a benchmark and the comparison of two, on rows made by hand. */
#include "unit.h"

#include "bench/bench.h"
#include "bench/rivals.h"

#include <math.h>

#define BASELINES 2

/* A correct one: ours takes `us`, torch `torch` times as long, naive `naive` times; the intervals
 * are one per cent wide on each side. */
static struct store_bench_task
row(struct unit *unit, int64_t number, double us, double torch, double naive)
{
    struct store_baseline *baselines = arena_array(unit->arena, BASELINES, sizeof *baselines);
    const double factors[BASELINES] = {torch, naive};
    const char *const names[BASELINES] = {"torch", "naive"};

    for (size_t i = 0; i < BASELINES; i++)
        baselines[i] = (struct store_baseline){.name = names[i],
                                               .build = "",
                                               .time_us = factors[i] * us,
                                               .speedup = factors[i],
                                               .speedup_low = factors[i] * 0.99,
                                               .speedup_high = factors[i] * 1.01};
    return (struct store_bench_task){.suite = "s",
                                     .number = number,
                                     .name = "task",
                                     .marks = "",
                                     .recipe = "builtin",
                                     .status = "correct",
                                     .reason = "",
                                     .time_us = us,
                                     .low_us = us * 0.995,
                                     .high_us = us * 1.005,
                                     .light = 0.1 * (double)number,
                                     .evaluations = 10,
                                     .seconds = 2,
                                     .baselines = baselines,
                                     .baseline_count = BASELINES};
}

static struct store_bench_task
failed(int64_t number, const char *status)
{
    return (struct store_bench_task){.suite = "s",
                                     .number = number,
                                     .name = "task",
                                     .marks = "",
                                     .recipe = "builtin",
                                     .status = status,
                                     .reason = "",
                                     .time_us = NAN,
                                     .low_us = NAN,
                                     .high_us = NAN,
                                     .light = NAN,
                                     .seconds = NAN};
}

static void
near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected) + 1e-12))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* ---- the summary ---- */

static void
a_summary(void **state)
{
    struct unit *unit = *state;
    struct bench_summary sum;
    struct store_bench_task rows[] = {
        row(unit, 1, 100, 4, 8), /* 400 us of torch */
        row(unit, 2, 10, 1, 2),  /* as fast: not faster */
        row(unit, 3, 50, 16, 4), /* wasteful */
        row(unit, 4, 200, 0.5, 4), failed(5, "wrong"),
        failed(6, "broken"),       failed(7, ""), /* not done */
    };

    rows[2].marks = "smaller wasteful";
    bench_summarise(unit->arena, rows, 7, "torch,naive", NULL, &sum);
    assert_int_equal(sum.tasks, 7);
    assert_int_equal(sum.done, 6);
    assert_int_equal(sum.correct, 4);
    assert_int_equal(sum.broken, 1);
    assert_int_equal(sum.line_count, 4);

    near(sum.lines[0].geomean, sqrt(sqrt(4 * 1 * 16 * 0.5)));
    near(sum.lines[0].fast[BENCH_FAST_0], 4.0 / 6); /* correct at all */
    near(sum.lines[0].fast[BENCH_FAST_1], 2.0 / 6);
    near(sum.lines[0].fast[BENCH_FAST_2], 2.0 / 6);
    assert_int_equal(sum.lines[0].tasks, 6);

    assert_int_equal(sum.lines[1].part, BENCH_HEADLINE);
    assert_int_equal(sum.lines[1].left_out, 1);
    assert_int_equal(sum.lines[1].tasks, 5);
    near(sum.lines[1].geomean, cbrt(4 * 1 * 0.5));
    near(sum.lines[1].fast[BENCH_FAST_1_5], 1.0 / 5);

    /* 400 us and exactly 100 us, which is not above it; a failed one has no time */
    assert_int_equal(sum.lines[2].part, BENCH_LONG);
    assert_int_equal(sum.lines[2].tasks, 1);
    near(sum.lines[2].geomean, 4);

    assert_string_equal(sum.lines[3].baseline, "naive");
    near(sum.lines[3].geomean, 4);
    assert_int_equal(sum.lines[3].tasks, 6);

    near(sum.light_median, 0.25); /* of 0.1, 0.2, 0.3, 0.4 */
    near(sum.light_tenth, 0.13);
    near(sum.evaluations, 40);
    near(sum.seconds, 8);
    assert_int_equal(sum.slowest_count, 4);
    assert_int_equal(sum.slowest[0]->number, 4);
    assert_int_equal(sum.slowest[3]->number, 3);
}

static void
nothing_is_a_summary_too(void **state)
{
    struct unit *unit = *state;
    struct bench_summary sum;
    struct store_bench_task rows[] = {failed(1, "")};

    bench_summarise(unit->arena, rows, 1, "naive", NULL, &sum);
    assert_true(sum.tasks == 1 && sum.done == 0 && sum.lines[0].tasks == 0);
    assert_true(isnan(sum.lines[0].geomean) && isnan(sum.light_median));
    assert_int_equal(sum.slowest_count, 0);
}

/* PyTorch has no time for it: the line against PyTorch has fewer tasks, the other has not. */
static void
a_task_without_the_baseline(void **state)
{
    struct unit *unit = *state;
    struct bench_summary sum;
    struct store_bench_task rows[] = {row(unit, 1, 100, 4, 8), row(unit, 2, 10, 1, 2)};

    rows[1].baselines++;
    rows[1].baseline_count--;
    bench_summarise(unit->arena, rows, 2, "torch,naive", NULL, &sum);
    assert_int_equal(sum.lines[0].tasks, 1);
    near(sum.lines[0].geomean, 4);
    assert_int_equal(sum.lines[3].tasks, 2);
    near(sum.lines[3].geomean, 4);
}

/* The best of fewer builds than others are held against; what is shown only is none of them. */
static void
a_task_with_fewer_builds(void **state)
{
    struct unit *unit = *state;
    struct bench_summary sum;
    struct store_baseline baselines[2][4];
    struct store_bench_task rows[] = {row(unit, 1, 100, 4, 8), row(unit, 2, 10, 1, 2),
                                      failed(3, "broken")};
    static const char *const names[] = {"torch", "torch.eager", "torch.aot", BENCH_SHIPPED};

    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < 4; k++) {
            baselines[i][k] = rows[i].baselines[0];
            baselines[i][k].name = names[k];
        }
        rows[i].baselines = baselines[i];
        rows[i].baseline_count = 4;
    }
    baselines[1][2].time_us = baselines[1][2].speedup = NAN;
    struct bench_builds builds = bench_builds(&rows[1], "torch");
    assert_true(builds.asked == 2 && builds.there == 1);
    assert_true(bench_took_part(&baselines[0][2]) && !bench_took_part(&baselines[1][2]));
    bench_summarise(unit->arena, rows, 3, "torch,torch.as shipped", NULL, &sum);
    assert_true(sum.lines[0].builds == 2 && sum.lines[0].fewer == 1);
    assert_true(sum.lines[2].tasks == 1 && sum.lines[2].fewer == 0); /* it takes 10 us */
    assert_string_equal(sum.lines[3].baseline, BENCH_SHIPPED);
    assert_true(sum.lines[3].builds == 0 && sum.lines[3].fewer == 0);
}

static void
what_is_shown_only(void **state)
{
    (void)state;
    assert_true(bench_is_claimed("torch") && bench_is_claimed("torch.eager"));
    assert_false(bench_is_claimed(BENCH_SHIPPED) || bench_is_claimed("onednn.blocked"));
    assert_true(bench_is_partial("onednn") && bench_is_partial("onednn.blocked"));
    assert_false(bench_is_partial(BENCH_SHIPPED) || bench_is_partial("naive"));
}

static void
a_summary_of_one_recipe(void **state)
{
    struct unit *unit = *state;
    struct bench_summary sum;
    struct store_bench_task rows[] = {row(unit, 1, 100, 4, 8), row(unit, 1, 50, 8, 16)};

    rows[1].recipe = "stark";
    bench_summarise(unit->arena, rows, 2, "naive", "stark", &sum);
    assert_int_equal(sum.tasks, 1);
    near(sum.lines[0].geomean, 16);
}

/* ---- the comparison ---- */

static enum bench_change_kind
kind_of(struct unit *unit, struct store_bench_task before, struct store_bench_task after)
{
    struct bench_comparison comparison;

    bench_compare(unit->arena, &before, 1, &after, 1, &comparison);
    assert_int_equal(comparison.count, 1);
    assert_int_equal(comparison.counts[comparison.changes[0].kind], 1);
    return comparison.changes[0].kind;
}

static void
changes_beyond_the_noise(void **state)
{
    struct unit *unit = *state;
    struct store_bench_task old = row(unit, 1, 100, 2, 3);

    /* the baseline takes what it took: a real change moves the gain too */
    assert_int_equal(kind_of(unit, old, row(unit, 1, 100, 2, 3)), BENCH_SAME);
    assert_int_equal(kind_of(unit, old, row(unit, 1, 102, 2 / 1.02, 3)), BENCH_SAME);
    assert_int_equal(kind_of(unit, old, row(unit, 1, 110, 2 / 1.1, 3)), BENCH_SLOWER);
    assert_int_equal(kind_of(unit, old, row(unit, 1, 90, 2 / 0.9, 3)), BENCH_FASTER);
    /* all of the machine got slower: no news of the kernel */
    assert_int_equal(kind_of(unit, old, row(unit, 1, 110, 2, 3)), BENCH_SAME);
    assert_int_equal(kind_of(unit, old, failed(1, "wrong")), BENCH_LOST);
    assert_int_equal(kind_of(unit, failed(1, "broken"), old), BENCH_MENDED);
    assert_int_equal(kind_of(unit, failed(1, "broken"), failed(1, "wrong")), BENCH_NEVER);
}

/* Wide intervals say nothing. */
static void
noise_is_no_change(void **state)
{
    struct unit *unit = *state;
    struct store_bench_task before = row(unit, 1, 100, 2, 3), after = row(unit, 1, 110, 1.8, 3);

    after.low_us = 98;
    assert_int_equal(kind_of(unit, before, after), BENCH_SAME);
    after = row(unit, 1, 110, 1.8, 3);
    after.baseline_count = 0; /* nothing to hold it against: the time alone */
    assert_int_equal(kind_of(unit, before, after), BENCH_SLOWER);
}

/* Raced against different rivals, what both have is our own kernel, by which nothing changes, and
 * the plain C. */
static void
our_kernel_is_no_baseline(void **state)
{
    struct unit *unit = *state;
    struct store_bench_task rows[] = {row(unit, 1, 100, 2, 3), row(unit, 1, 110, 1.8, 3 / 1.1)};
    struct store_baseline baselines[2][3];

    for (size_t i = 0; i < 2; i++) {
        baselines[i][0] = rows[i].baselines[0];
        baselines[i][1] = (struct store_baseline){
            .name = BENCH_OURS, .time_us = 100, .speedup = 1, .speedup_low = 1, .speedup_high = 1};
        baselines[i][2] = rows[i].baselines[1];
        rows[i].baselines = baselines[i];
        rows[i].baseline_count = 3;
    }
    baselines[0][0].name = "onednn";
    assert_int_equal(kind_of(unit, rows[0], rows[1]), BENCH_SLOWER);
    rows[0].baseline_count = rows[1].baseline_count = 2; /* nothing contradicts the time */
    assert_int_equal(kind_of(unit, rows[0], rows[1]), BENCH_SLOWER);
}

static void
a_gate(void **state)
{
    struct unit *unit = *state;
    struct store_bench_task before[] = {row(unit, 1, 100, 2, 3), row(unit, 2, 100, 2, 3)};
    struct store_bench_task after[] = {row(unit, 1, 106, 2 / 1.06, 3), row(unit, 2, 100, 2, 3)};
    struct bench_comparison comparison;

    bench_compare(unit->arena, before, 2, after, 2, &comparison);
    assert_int_equal(comparison.counts[BENCH_SLOWER], 1);
    near(comparison.changes[0].ratio, 1.06);
    near(comparison.changes[0].low, 1.06 * 0.995 / 1.005);
    assert_true(bench_regressed(&comparison, 0.03));
    assert_true(bench_regressed(&comparison, 0.049)); /* the low end is 4.95 % */
    assert_false(bench_regressed(&comparison, 0.055));
    after[1] = failed(2, "wrong");
    bench_compare(unit->arena, before, 2, after, 2, &comparison);
    assert_true(bench_regressed(&comparison, 0.5));
}

static void
tasks_are_told_apart(void **state)
{
    struct unit *unit = *state;
    struct store_bench_task before[] = {row(unit, 1, 100, 2, 3), row(unit, 2, 100, 2, 3),
                                        row(unit, 3, 100, 2, 3)};
    struct store_bench_task after[] = {row(unit, 2, 100, 2, 3), row(unit, 3, 100, 2, 3),
                                       row(unit, 9, 100, 2, 3), failed(1, "")};
    struct bench_comparison comparison;

    after[1].suite = "other";
    after[0].recipe = "stark"; /* the only one of its task: compared all the same */
    bench_compare(unit->arena, before, 3, after, 4, &comparison);
    assert_int_equal(comparison.count, 1);
    assert_int_equal(comparison.changes[0].after->number, 2);
    assert_int_equal(comparison.only_after, 2);
    assert_int_equal(comparison.only_before, 2);
}

/* A recipe that is new is compared with nothing: it shuts no gate. */
static void
recipes_are_told_apart(void **state)
{
    struct unit *unit = *state;
    struct store_bench_task before[] = {row(unit, 1, 100, 2, 3)};
    struct store_bench_task after[] = {row(unit, 1, 100, 2, 3), row(unit, 1, 200, 1, 1.5)};
    struct bench_comparison comparison;

    after[1].recipe = "stark";
    bench_compare(unit->arena, before, 1, after, 2, &comparison);
    assert_int_equal(comparison.count, 1);
    assert_int_equal(comparison.only_after, 1);
    assert_int_equal(comparison.only_before, 0);
    assert_false(bench_regressed(&comparison, 0.03));
}

/* Time and gain of a line belong together: those of the race, or those of the verdict. */
static void
the_time_beside_a_baseline(void **state)
{
    struct unit *unit = *state;
    const struct store_baseline ours = {.name = BENCH_OURS, .time_us = 80};
    struct store_bench_task raced = row(unit, 1, 100, 2, 4);

    assert_true(bench_time_beside(&raced, "torch") == 100);
    raced.baselines = &ours;
    raced.baseline_count = 1;
    assert_true(bench_time_beside(&raced, "torch") == 80);
    assert_true(bench_time_beside(&raced, "naive") == 100);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(a_summary),
        UNIT_TEST(the_time_beside_a_baseline),
        UNIT_TEST(nothing_is_a_summary_too),
        UNIT_TEST(a_task_without_the_baseline),
        UNIT_TEST(a_task_with_fewer_builds),
        UNIT_TEST(what_is_shown_only),
        UNIT_TEST(a_summary_of_one_recipe),
        UNIT_TEST(changes_beyond_the_noise),
        UNIT_TEST(noise_is_no_change),
        UNIT_TEST(our_kernel_is_no_baseline),
        UNIT_TEST(a_gate),
        UNIT_TEST(tasks_are_told_apart),
        UNIT_TEST(recipes_are_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
