/* Metrics against values computed by hand; doc/metrics.md has the definitions. */
#include "base/buf.h"
#include "report/metrics.h"
#include "unit.h"

#include <math.h>

#define CLOSE 1e-12
#define assert_near(value, expected, epsilon) assert_true(fabs((value) - (expected)) <= (epsilon))

static const struct metrics_attempt failed = {.speedup = NAN};
static const struct metrics_attempt wrong = {.built = true, .speedup = 9};

static struct metrics_attempt
correct(double speedup)
{
    return (struct metrics_attempt){true, true, speedup};
}

#define TASK(...)                                                                          \
    {                                                                                      \
        (const struct metrics_attempt[]){__VA_ARGS__},                                     \
            sizeof(struct metrics_attempt[]){__VA_ARGS__} / sizeof(struct metrics_attempt) \
    }

/* ---- shares ---- */

static void
rates_count_attempts(void **state)
{
    (void)state;
    const struct metrics_task tasks[] = {TASK(failed, wrong, correct(2)), TASK(correct(0.5))};
    assert_near(metrics_compile_rate(tasks, 2), 3.0 / 4, CLOSE);
    assert_near(metrics_correct_rate(tasks, 2), 2.0 / 4, CLOSE);
    assert_true(isnan(metrics_compile_rate(tasks, 0)));
}

static void
pass_at_k_is_unbiased(void **state)
{
    (void)state;
    assert_near(metrics_pass(5, 2, 2), 1 - 3.0 / 10, CLOSE); /* C(3,2) / C(5,2) */
    assert_near(metrics_pass(10, 3, 1), 0.3, CLOSE);
    assert_near(metrics_pass(10, 0, 5), 0, CLOSE);
    assert_near(metrics_pass(4, 2, 3), 1, CLOSE); /* any three have a good one */
    assert_near(metrics_pass(100000, 1, 50000), 0.5, 1e-9);
    assert_true(isnan(metrics_pass(3, 1, 4)));
    assert_true(isnan(metrics_pass(3, 1, 0)));
}

/* 0.7 and 0: the third has too few attempts. */
static void
pass_at_k_is_a_mean_over_tasks(void **state)
{
    (void)state;
    const struct metrics_task tasks[] = {
        TASK(correct(1), wrong, wrong, correct(1), failed),
        TASK(wrong, failed),
        TASK(correct(1)),
    };
    assert_near(metrics_pass_at(tasks, 3, 2), 0.7 / 2, CLOSE);
    assert_near(metrics_build_at(tasks, 3, 2), 1, CLOSE); /* 1 - C(1,2)/C(5,2), and 1 */
    assert_near(metrics_pass_at(tasks, 3, 1), (2.0 / 5 + 0 + 1) / 3, CLOSE);
}

static void
fast_p_is_strictly_more_of_all_tasks(void **state)
{
    (void)state;
    const struct metrics_task tasks[] = {TASK(correct(1.5), wrong),
                                         TASK(correct(0.8), correct(2.5)), TASK(wrong),
                                         TASK(correct(NAN))};
    assert_near(metrics_fast(tasks, 4, 0), 3.0 / 4, CLOSE);
    assert_near(metrics_fast(tasks, 4, 1), 2.0 / 4, CLOSE);
    assert_near(metrics_fast(tasks, 4, 1.5), 1.0 / 4, CLOSE);
    assert_near(metrics_fast(tasks, 4, 2.5), 0, CLOSE);
}

/* ---- the best of k ---- */

/* Times 1, 2, 4, 8, 16 against 4: in ten pairs the best is 4 four times, 2 three times, 1 twice,
 * 0.5 once. */
static void
the_best_of_k_is_expected(void **state)
{
    struct unit *unit = *state;
    const double speedups[] = {4, 0.5, 1, 0.25, 2};
    assert_near(metrics_best_of(unit->arena, speedups, 5, 1), 7.75 / 5, CLOSE);
    assert_near(metrics_best_of(unit->arena, speedups, 5, 2), 2.45, CLOSE);
    assert_near(metrics_best_of(unit->arena, speedups, 5, 5), 4, CLOSE);
    assert_true(isnan(metrics_best_of(unit->arena, speedups, 5, 6)));
    assert_true(isnan(metrics_best_of(unit->arena, speedups, 5, 0)));
}

static void
many_attempts_do_not_overflow(void **state)
{
    struct unit *unit = *state;
    double values[4000];
    for (size_t i = 0; i < 4000; i++)
        values[i] = (double)(i + 1);
    /* The mean of the largest of k of 1..n is k (n + 1) / (k + 1). */
    assert_near(metrics_best_of(unit->arena, values, 4000, 1999), 1999 * 4001.0 / 2000, 1e-6);
}

static void
speedup_efficiency_and_perf_differ_in_what_fails(void **state)
{
    struct unit *unit = *state;
    const struct metrics_task tasks[] = {TASK(correct(4), correct(1), wrong),
                                         TASK(failed, correct(2))};
    struct arena *arena = unit->arena;
    assert_near(metrics_speedup_at(arena, tasks, 2, 1), (2.5 + 2) / 2, CLOSE);
    assert_near(metrics_speedup_at(arena, tasks, 2, 2), 4, CLOSE); /* one task has two */
    assert_near(metrics_efficiency_at(arena, tasks, 2, 1, 2), 2.25 / 2, CLOSE);
    assert_near(metrics_perf_at(arena, tasks, 2, 1), (5.0 / 3 + 1) / 2, CLOSE);
    /* Of three pairs two have the 4, one the 1; the other task has one pair. */
    assert_near(metrics_perf_at(arena, tasks, 2, 2), ((4 + 4 + 1) / 3.0 + 2) / 2, CLOSE);
    assert_true(isnan(metrics_efficiency_at(arena, tasks, 2, 1, 0)));
    /* Correct, and nobody knows how fast: that is not 0. */
    const struct metrics_task unknown[] = {TASK(correct(NAN), failed), TASK(failed, correct(2))};
    assert_near(metrics_perf_at(arena, unknown, 2, 1), 1, CLOSE);
    assert_near(metrics_speedup_at(arena, unknown, 2, 1), 2, CLOSE);
    assert_true(isnan(metrics_perf_at(arena, unknown, 1, 1)));
    /* All failed: that is 0. */
    assert_near(metrics_perf_at(arena, &(struct metrics_task)TASK(failed, wrong), 1, 2), 0, CLOSE);
}

/* ---- means ---- */

static void
means_are_geometric(void **state)
{
    struct unit *unit = *state;
    const double values[] = {2, NAN, 8, 0, -1};
    const struct metrics_task tasks[] = {TASK(correct(1), correct(2)), TASK(wrong),
                                         TASK(correct(8))};
    assert_near(metrics_geometric_mean(values, 5), 4, CLOSE);
    assert_true(isnan(metrics_geometric_mean(values + 3, 2)));
    assert_near(metrics_mean_speedup(tasks, 3), 4, CLOSE);
    const double shares[] = {0.9, 0.5, NAN, 0.7};
    assert_near(metrics_quantile(unit->arena, shares, 4, 0.5), 0.7, CLOSE);
    assert_near(metrics_quantile(unit->arena, shares, 4, 0.1), 0.54, CLOSE);
    assert_near(metrics_quantile(unit->arena, shares, 4, 1), 0.9, CLOSE);
    assert_true(isnan(metrics_quantile(unit->arena, shares + 2, 1, 0.5)));
}

static void
light_has_a_share_and_a_score(void **state)
{
    (void)state;
    assert_near(metrics_light(2, 4), 0.5, CLOSE);
    assert_near(metrics_light_score(2, 10, 10), 0.5, CLOSE);
    assert_near(metrics_light_score(2, 10, 2), 1, CLOSE);
    assert_near(metrics_light_score(2, 10, 4), 0.8, CLOSE); /* 1 / (1 + 2/8) */
    assert_near(metrics_light_score(2, 2, 3), 0, CLOSE);
    assert_near(metrics_light_score(2, 1, 2), 1, CLOSE);
    assert_near(metrics_light_score(4, 10, 3), 1, CLOSE); /* 6 / 5 by the formula, */
    assert_near(metrics_light_score(4, 5, 3), 1, CLOSE);  /* its pole, */
    assert_near(metrics_light_score(4, 5, 1), 1, CLOSE);  /* -1 / 2 */
    assert_true(isnan(metrics_light_score(NAN, 1, 2)));
}

/* ---- cost ---- */

static const struct metrics_step slow_steps[] = {{1, NAN}, {2, 10}, {4, 5}, {5, 7}};
static const struct metrics_step thrifty_steps[] = {{0.5, 8}, {3, 4}};
static const struct metrics_curve slow = {slow_steps, 4}, thrifty = {thrifty_steps, 2};

static void
cost_is_equal_where_the_thriftier_ends(void **state)
{
    (void)state;
    const struct metrics_curve none = {0};
    assert_true(isnan(metrics_best_within(&slow, 1.5)));
    assert_near(metrics_best_within(&slow, 2), 10, CLOSE);
    assert_near(metrics_best_within(&slow, 100), 5, CLOSE);
    assert_near(metrics_equal_cost(&thrifty, &slow), 2.5, CLOSE); /* 10 by 4 at cost 3 */
    assert_near(metrics_equal_cost(&slow, &thrifty), 0.4, CLOSE);
    assert_true(isnan(metrics_equal_cost(&slow, &none)));
}

/* Nothing until 2, once as fast until 4, then twice. */
static void
the_area_is_that_below_the_steps(void **state)
{
    (void)state;
    assert_near(metrics_area(&slow, 10, 5), (2 * 1 + 1 * 2) / 5.0, CLOSE);
    assert_near(metrics_area(&slow, 10, 3), 1 / 3.0, CLOSE);
    assert_near(metrics_area(&slow, 10, 10), (2 * 1 + 6 * 2) / 10.0, CLOSE);
    assert_true(isnan(metrics_area(&slow, NAN, 5)));
    assert_true(isnan(metrics_area(&slow, 10, 0)));
}

/* ---- CodeBLEU ---- */

static const char sum_text[] = "void f(float *x, int n) {\n"
                               "    float s = 0; /* so far */\n"
                               "    for (int i = 0; i < n; i++)\n"
                               "        s += x[i];\n"
                               "    x[0] = s;\n"
                               "}\n";

static struct metrics_code_bleu
likeness(void **state, const char *reference, const char *candidate)
{
    struct unit *unit = *state;
    return metrics_code_bleu(unit->arena, reference, candidate);
}

static void
the_same_text_is_wholly_alike(void **state)
{
    struct metrics_code_bleu same = likeness(state, sum_text, sum_text);
    assert_near(same.score, 1, CLOSE);
}

/* Five of six tokens, three of five pairs, one of four triples, none of three fours. */
static void
ngrams_are_those_of_bleu(void **state)
{
    struct metrics_code_bleu bleu = likeness(state, "x = a + b;", "x = a - b;");
    double expected = pow(5.0 / 6 * 3 / 5 * 1 / 4 * 0.1 / 3, 0.25);
    assert_near(bleu.ngram, expected, CLOSE);
    assert_near(bleu.weighted, expected, CLOSE); /* no keyword in it */
    assert_near(bleu.syntax, 1, CLOSE);
    assert_near(bleu.flow, 1, CLOSE);
    assert_near(bleu.score, (2 * expected + 2) / 4, CLOSE);
}

/* Four tokens of weight 0.2 of those and a keyword: 0.8 of 1.8; then 3 of 4, 2 of 3, 1 of 2. */
static void
keywords_weigh_five_times(void **state)
{
    struct metrics_code_bleu bleu = likeness(state, "int x = a;", "float x = a;");
    assert_near(bleu.ngram, pow(4.0 / 5 * 3 / 4 * 2 / 3 * 1 / 2, 0.25), CLOSE);
    assert_near(bleu.weighted, 1 / sqrt(3), CLOSE);
}

/* Four tokens of the reference's eight: exp(1 - 2). */
static void
what_is_short_is_penalised(void **state)
{
    struct metrics_code_bleu bleu = likeness(state, "a = b; c = d;", "a = b;");
    assert_near(bleu.ngram, exp(-1), CLOSE);
    assert_near(likeness(state, "a = b;", "").ngram, 0, CLOSE);
}

/* The reference: unit, two statements, two assignments, a sum; shared are one statement and one
 * assignment, the candidate's second ones have no partner. */
static void
subtrees_are_clipped(void **state)
{
    struct metrics_code_bleu bleu = likeness(state, "x = a + b; y = a;", "x = a; y = a;");
    assert_near(bleu.syntax, 2.0 / 6, CLOSE);
}

/* Twelve edges: x, n and i appear; i, n, i, x, i, s are used; i is computed from itself, s from x
 * and i, x from s. With `x[0] = n` the last two are others. */
static void
flow_is_by_variables(void **state)
{
    const char *renamed = "void g(float *out, int count) {\n"
                          "    float total = 0;\n"
                          "    for (int k = 0; k < count; k++)\n"
                          "        total += out[k];\n"
                          "    out[0] = total;\n"
                          "}\n";
    const char *other = "void f(float *x, int n) {\n"
                        "    float s = 0;\n"
                        "    for (int i = 0; i < n; i++)\n"
                        "        s += x[i];\n"
                        "    x[0] = n;\n"
                        "}\n";
    struct metrics_code_bleu bleu = likeness(state, sum_text, renamed);
    assert_near(bleu.flow, 1, CLOSE);
    assert_near(bleu.syntax, 1, CLOSE);
    assert_true(bleu.ngram < 0.5);
    assert_near(likeness(state, sum_text, other).flow, 10.0 / 12, CLOSE);
    assert_near(likeness(state, "return 1;", "return 1;").flow, 0, CLOSE);
}

/* Trees tell apart what only brackets or types make different. */
static void
trees_follow_the_grammar(void **state)
{
    assert_true(likeness(state, "x = a + b * c;", "x = (a + b) * c;").syntax < 1);
    assert_true(likeness(state, "x = a + b * c;", "x = a * b + c;").syntax < 1);
    assert_true(likeness(state, "x = (float)a;", "x = f(a);").syntax < 1);
    assert_true(likeness(state, "if (a) b(); else c();", "if (a) b(); c();").syntax < 1);
    assert_near(likeness(state, "hvf x = hv_load(p);", "hvf8 y = hv_get(q);").syntax, 1, CLOSE);
    assert_near(
        likeness(state, "#define A \\\n  1\n x = 1.5e-3f;", "#define B \\\n  f(2)\n x = .5;")
            .syntax,
        1, CLOSE);
}

/* Neither nesting nor length may choose how much stack is used. */
static void
deep_text_is_cut(void **state)
{
    struct unit *unit = *state;
    static const char *const pieces[] = {
        "(",     "[",  "{",  "-",  "a+",    "a=",  "a?",    "*(",
        "if(a)", "f(", "a.", "a[", "(int)", "do ", "else ", "int (*"};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct buf buf = buf_in(unit->arena);
        for (size_t j = 0; j < 20000; j++)
            buf_puts(&buf, pieces[i]);
        struct metrics_code_bleu bleu = metrics_code_bleu(unit->arena, buf.data, buf.data);
        assert_near(bleu.ngram, 1, CLOSE);
        assert_near(bleu.syntax, 1, CLOSE);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(rates_count_attempts),
        UNIT_TEST(pass_at_k_is_unbiased),
        UNIT_TEST(pass_at_k_is_a_mean_over_tasks),
        UNIT_TEST(fast_p_is_strictly_more_of_all_tasks),
        UNIT_TEST(the_best_of_k_is_expected),
        UNIT_TEST(many_attempts_do_not_overflow),
        UNIT_TEST(speedup_efficiency_and_perf_differ_in_what_fails),
        UNIT_TEST(means_are_geometric),
        UNIT_TEST(light_has_a_share_and_a_score),
        UNIT_TEST(cost_is_equal_where_the_thriftier_ends),
        UNIT_TEST(the_area_is_that_below_the_steps),
        UNIT_TEST(the_same_text_is_wholly_alike),
        UNIT_TEST(ngrams_are_those_of_bleu),
        UNIT_TEST(keywords_weigh_five_times),
        UNIT_TEST(what_is_short_is_penalised),
        UNIT_TEST(subtrees_are_clipped),
        UNIT_TEST(flow_is_by_variables),
        UNIT_TEST(trees_follow_the_grammar),
        UNIT_TEST(deep_text_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
