/* Published figures of searches, against values computed by hand. */
#include "unit.h"

#include "bench/figures.h"

#include <math.h>

#define STEPS 4

struct made { /* a search with all it points to */
    struct bench_search search;
    struct metrics_attempt attempts[STEPS];
    struct metrics_step steps[BENCH_COST_COUNT][STEPS];
};

static void
near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-12 * fabs(wanted)))
        fail_msg("%.17g instead of %.17g", got, wanted);
}

/* Times of four attempts; 0: it is wrong, < 0: it did not build. Each costs 100 tokens. */
static void
make(struct made *made, const double *us, double baseline_us, double light_us)
{
    *made = (struct made){.search = {.attempts = {made->attempts, STEPS},
                                     .baseline_us = baseline_us,
                                     .light_us = light_us,
                                     .best_us = NAN,
                                     .code_bleu = NAN,
                                     .limit = ""}};
    for (size_t i = 0; i < STEPS; i++) {
        double time = us[i] > 0 ? us[i] : NAN;

        made->attempts[i] = (struct metrics_attempt){us[i] >= 0, us[i] > 0, baseline_us / time};
        made->steps[BENCH_EVALUATIONS][i] = (struct metrics_step){(double)(i + 1), time};
        made->steps[BENCH_TOKENS][i] = (struct metrics_step){100.0 * (double)(i + 1), time};
        made->steps[BENCH_MONEY][i] = (struct metrics_step){0, time};
        made->search.best_us = fmin(made->search.best_us, time);
    }
    for (unsigned cost = 0; cost < BENCH_COST_COUNT; cost++)
        made->search.curves[cost] = (struct metrics_curve){made->steps[cost], STEPS};
}

static const double one[STEPS] = {-1, 10, 0, 5}, other[STEPS] = {20, 20, 10, 10.05};

static void
the_last_gain(void **state)
{
    struct made a, b, none;

    (void)state;
    make(&a, one, 20, 2);
    make(&b, other, 20, 2);
    make(&none, (const double[STEPS]){0, 0, -1, 0}, 20, 2);
    assert_int_equal(bench_last_gain(&a.search), 4);
    assert_int_equal(bench_last_gain(&b.search), 3); /* the fourth is within the noise */
    assert_int_equal(bench_last_gain(&none.search), 0);
}

static void
figures_of_two_tasks(void **state)
{
    struct unit *unit = *state;
    struct made a, b;
    struct bench_figures figures;
    const struct bench_terms terms = {.baseline = "naive", .evaluations = 8, .threads = 2};

    make(&a, one, 20, 2);
    make(&b, other, 20, 2);
    a.search.code_bleu = 0.5;
    bench_figure(unit->arena, (const struct bench_search *const[]){&a.search, &b.search}, 2, &terms,
                 &figures);
    assert_string_equal(figures.baseline, "naive");
    assert_int_equal(figures.attempts, 8);
    near(figures.compile_rate, 7.0 / 8);
    near(figures.correct_rate, 6.0 / 8);
    assert_int_equal(figures.at[0].k, 1);
    near(figures.at[0].build, (3.0 / 4 + 1) / 2);
    near(figures.at[0].pass, (2.0 / 4 + 1) / 2);
    near(figures.at[0].speedup, ((2.0 + 4) / 2 + (1 + 1 + 2 + 20 / 10.05) / 4) / 2);
    near(figures.at[0].efficiency, figures.at[0].speedup / 2);
    near(figures.at[0].perf, ((0.0 + 2 + 0 + 4) / 4 + (1 + 1 + 2 + 20 / 10.05) / 4) / 2);
    assert_true(isnan(figures.at[1].pass)); /* nobody has five attempts */
    /* 1/2 at the baseline's time, 1 at the limit */
    near(figures.light_score, (1 / (1 + 3.0 / 18) + 1 / (1 + 8.0 / 18)) / 2);
    /* speed-up of the best so far, from 0 to 8 evaluations */
    near(figures.area, ((2 * 2 + 4 * 4) / 8.0 + (2 * 1 + 5 * 2) / 8.0) / 2);
    near(figures.code_bleu, 0.5); /* of the one that has it */
}

static void
figures_of_nothing(void **state)
{
    struct unit *unit = *state;
    struct bench_figures figures;

    bench_figure(unit->arena, NULL, 0, &(struct bench_terms){.evaluations = NAN, .threads = NAN},
                 &figures);
    assert_int_equal(figures.attempts, 0);
    assert_true(isnan(figures.compile_rate) && isnan(figures.at[0].pass) && isnan(figures.area));
}

/* Who spent less decides where both are looked at; who spent nothing is not compared. */
static void
at_equal_cost(void **state)
{
    struct unit *unit = *state;
    struct made a, b;
    const struct bench_search *first[] = {&a.search, &b.search};
    const struct bench_search *second[] = {&b.search, &b.search};
    size_t defined;

    make(&a, one, 20, 2);
    make(&b, other, 20, 2);
    near(bench_equal_cost(unit->arena, first, second, 2, BENCH_EVALUATIONS, &defined),
         sqrt(10.0 / 5));
    assert_int_equal(defined, 2);
    b.search.curves[BENCH_TOKENS].count = 2; /* 200 tokens: 20 us against 10 */
    near(bench_equal_cost(unit->arena, first, second, 1, BENCH_TOKENS, &defined), 2);
    assert_true(isnan(bench_equal_cost(unit->arena, first, second, 2, BENCH_MONEY, &defined)));
    assert_int_equal(defined, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(the_last_gain),
        UNIT_TEST(figures_of_two_tasks),
        UNIT_TEST(figures_of_nothing),
        UNIT_TEST(at_equal_cost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
