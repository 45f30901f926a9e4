/* The rules of selection against their formulas, each recomputed here. */
#include "walk_unit.h"

enum { NODES = 6 };

/* A tree of six seeds, of which the rule picks one for each step. Nothing comes of the steps, so
 * the six stay the choice. */
static const double six[NODES] = {40, 10, 25, 80, 12, 20};
static const size_t by_rank[NODES] = {1, 4, 5, 2, 0, 3}; /* places in `six` */

static struct drive *
open_six(enum search_select select, double number, unsigned children, uint64_t seed)
{
    struct drive *drive = drive_open(&(struct search_rule){.topology = SEARCH_TREE,
                                                           .select = select,
                                                           .number = number,
                                                           .children = children,
                                                           .width = children > 1 ? 16 : 1,
                                                           .rounds = children > 1 ? 1 : DRIVE_MOST},
                                     seed);
    for (size_t i = 0; i < NODES; i++)
        drive_seed(drive, six[i]);
    return drive;
}

/* How often each was picked in 4096 steps of one round. */
static void
count_picks(enum search_select select, double number, double counts[NODES])
{
    struct drive *drive = open_six(select, number, 256, 7);
    size_t count;
    for (size_t i = 0; i < NODES; i++)
        counts[i] = 0;
    assert_non_null(drive_ask(drive, 4096, &count));
    assert_int_equal(count, 4096);
    for (size_t i = 0; i < count; i++)
        counts[drive->steps[i].parents[0]]++;
    drive_close(drive);
}

static void
last_and_best(void **state)
{
    (void)state;
    for (int best = 0; best < 2; best++) {
        struct drive *drive = drive_open(
            &(struct search_rule){.topology = SEARCH_TREE,
                                  .select = best ? SEARCH_SELECT_BEST : SEARCH_SELECT_LAST,
                                  .rounds = 50},
            1);
        size_t count;
        int expected = 1, cheapest = 1;
        for (size_t i = 0; i < NODES; i++)
            drive_seed(drive, six[i]);
        for (uint64_t i = 0; i < 50; i++) { /* seeds: the cheapest is taken, not the last given */
            double cost = drive_outcome(3, i, 4, 15);
            assert_int_equal(drive_ask(drive, 1, &count)->parents[0], expected);
            int number = drive_tell(drive, cost, 0);
            if (cost < drive->costs[cheapest])
                cheapest = number;
            if (best)
                expected = cheapest;
            else if (isfinite(cost))
                expected = number;
        }
        drive_close(drive);
    }
}

static void
model_names_the_best(void **state)
{
    struct drive *drive = open_six(SEARCH_SELECT_MODEL, 0, 1, 7);
    size_t count;
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct search_step *step = drive_ask(drive, 1, &count);
        assert_int_equal(step->parents[0], 1);
        step->parents[0] = 3; /* a role decides otherwise */
        drive_tell_nothing(drive);
    }
    drive_close(drive);
}

/* Chances of 1 / (rank + 1 + n), ranks from 0. */
static void
rank_chances(void **state)
{
    double counts[NODES], total = 0;
    (void)state;
    count_picks(SEARCH_SELECT_RANK, 0, counts);
    for (int rank = 0; rank < NODES; rank++)
        total += 1.0 / (rank + 1 + NODES);
    for (int rank = 0; rank < NODES; rank++)
        assert_rate(counts[by_rank[rank]], 4096, 1.0 / (rank + 1 + NODES) / total);
    assert_true(counts[by_rank[0]] > 1.4 * counts[by_rank[NODES - 1]]);
}

static double
choose(double n, double k)
{
    double result = 1;
    for (double i = 0; i < k; i++)
        result *= (n - i) / (i + 1);
    return result;
}

/* The best of k different ones: rank r wins if the other k - 1 are all behind it. */
static void
tournaments(void **state)
{
    double counts[NODES];
    (void)state;
    for (int size = 1; size <= NODES + 1; size++) {
        int met = size < NODES ? size : NODES;
        count_picks(SEARCH_SELECT_TOURNAMENT, size, counts);
        for (int rank = 0; rank < NODES; rank++) {
            double behind = NODES - 1 - rank;
            double share = behind >= met - 1 ? choose(behind, met - 1) / choose(NODES, met) : 0;
            assert_rate(counts[by_rank[rank]], 4096, share);
        }
    }
    count_picks(SEARCH_SELECT_TOURNAMENT, 0, counts); /* two, where no size is given */
    assert_rate(counts[by_rank[0]], 4096, 5 / 15.0);
    assert_rate(counts[by_rank[NODES - 1]], 4096, 0);
}

static void
epsilon_rates(void **state)
{
    double counts[NODES];
    static const double epsilons[] = {0, 0.1, 0.5, 1};
    (void)state;
    for (size_t e = 0; e < 4; e++) {
        double epsilon = e == 0 ? 0.3 : epsilons[e]; /* none given: 0.3 */
        count_picks(SEARCH_SELECT_EPSILON, epsilons[e], counts);
        assert_rate(counts[1], 4096, 1 - epsilon + epsilon / NODES);
        for (int rank = 1; rank < NODES; rank++)
            assert_rate(counts[by_rank[rank]], 4096, epsilon / NODES);
    }
}

/* Chances of exp(speed / T), speed being the least cost over the node's. */
static void
softmax_chances(void **state)
{
    double counts[NODES];
    static const double temperatures[] = {0, 0.1, 1, 5};
    (void)state;
    for (size_t t = 0; t < 4; t++) {
        double heat = t == 0 ? 0.25 : temperatures[t], total = 0;
        count_picks(SEARCH_SELECT_SOFTMAX, temperatures[t], counts);
        for (size_t i = 0; i < NODES; i++)
            total += exp(10 / six[i] / heat);
        for (size_t i = 0; i < NODES; i++)
            assert_rate(counts[i], 4096, exp(10 / six[i] / heat) / total);
    }
}

/* What a rule gives each of the six, when they have so many children. */
typedef void (*formula)(const double children[NODES], double chances[NODES]);

/* Steps are asked one at a time; counts must follow the chances as they are at each. */
static void
follow(enum search_select select, double number, formula recompute)
{
    double expected[NODES] = {0}, variance[NODES] = {0}, counts[NODES] = {0};
    for (uint64_t seed = 0; seed < 5; seed++) {
        struct drive *drive = open_six(select, number, 1, seed);
        double children[NODES] = {0};
        for (int n = 0; n < 4000; n++) {
            double chances[NODES], total = 0;
            size_t count;
            recompute(children, chances);
            for (size_t i = 0; i < NODES; i++)
                total += chances[i];
            for (size_t i = 0; i < NODES; i++) {
                expected[i] += chances[i] / total;
                variance[i] += chances[i] / total * (1 - chances[i] / total);
            }
            int parent = drive_ask(drive, 1, &count)->parents[0];
            children[parent]++;
            counts[parent]++;
            drive_tell_nothing(drive);
        }
        drive_close(drive);
    }
    for (size_t i = 0; i < NODES; i++)
        assert_true(fabs(counts[i] - expected[i]) <= 4 * sqrt(variance[i]) + 1e-9);
}

/* Of 10 12 20 25 40 80 the median is 22.5; of 12.5 10.5 2.5 2.5 17.5 57.5 it is 11.5. */
static void
weighted_chances(double lambda, const double children[NODES], double chances[NODES])
{
    for (size_t i = 0; i < NODES; i++)
        chances[i] = 1 / (1 + exp(-lambda * (22.5 - six[i]) / 11.5)) / (1 + children[i]);
}

static void
weighted_usual(const double children[NODES], double chances[NODES])
{
    weighted_chances(10, children, chances);
}

static void
weighted_flat(const double children[NODES], double chances[NODES])
{
    weighted_chances(0.5, children, chances);
}

static void
weighted_formula(void **state)
{
    (void)state;
    follow(SEARCH_SELECT_WEIGHTED, 0, weighted_usual);
    follow(SEARCH_SELECT_WEIGHTED, 0.5, weighted_flat);
}

/* Equal costs have no deviation: only the children count. */
static void
weighted_among_equals(void **state)
{
    struct drive *drive = drive_open(&(struct search_rule){.topology = SEARCH_TREE,
                                                           .select = SEARCH_SELECT_WEIGHTED,
                                                           .rounds = 3000},
                                     2);
    double counts[4] = {0};
    size_t count;
    (void)state;
    for (int i = 0; i < 4; i++)
        drive_seed(drive, i < 3 ? 5 : 5.1); /* and what is dearer is out, by however little */
    for (int i = 0; i < 3000; i++) {
        counts[drive_ask(drive, 1, &count)->parents[0]]++;
        drive_tell_nothing(drive);
    }
    for (int i = 0; i < 3; i++)
        assert_in_range((unsigned)counts[i], 900, 1100);
    assert_true(counts[3] == 0);
    drive_close(drive);
}

static void
mix_chances(const double children[NODES], double chances[NODES])
{
    double speeds = 0, novelties = 0;
    for (size_t i = 0; i < NODES; i++) {
        speeds += 10 / six[i];
        novelties += 1 / (1 + children[i]);
    }
    for (size_t i = 0; i < NODES; i++)
        chances[i] =
            0.3 / NODES + 0.4 * (10 / six[i]) / speeds + 0.3 / (1 + children[i]) / novelties;
}

static void
mix_formula(void **state)
{
    (void)state;
    follow(SEARCH_SELECT_MIX, 0, mix_chances);
}

/* (n - rank) / (n - 1) + c sqrt(ln(N + 1) / (n_i + 1)): no chance in it, so every pick is known. */
static void
ucb_picks_what_the_formula_says(void **state)
{
    static const double cs[] = {0, 0.2, 5};
    (void)state;
    for (size_t c = 0; c < 3; c++) {
        struct drive *drive = open_six(SEARCH_SELECT_UCB, cs[c], 1, 7);
        double children[NODES] = {0}, factor = c == 0 ? 1.414 : cs[c];
        for (int n = 0; n < 500; n++) {
            double highest = -1;
            size_t expected = 0, count;
            for (int rank = 0; rank < NODES; rank++) {
                double bound = (double)(NODES - 1 - rank) / (NODES - 1) +
                               factor * sqrt(log(n + 1.0) / (children[by_rank[rank]] + 1));
                if (bound > highest) {
                    highest = bound;
                    expected = by_rank[rank];
                }
            }
            assert_int_equal(drive_ask(drive, 1, &count)->parents[0], expected);
            children[expected]++;
            drive_tell_nothing(drive);
        }
        for (size_t i = 0; i < NODES; i++)
            assert_true(factor < 1 || children[i] > 0); /* the greater c, the less are forgotten */
        drive_close(drive);
    }
}

/* Steps of one round see one another: they do not all go to the same node. */
static void
ucb_counts_what_is_out(void **state)
{
    struct drive *drive = open_six(SEARCH_SELECT_UCB, 5, 4, 7);
    unsigned counts[NODES] = {0};
    size_t count;
    (void)state;
    assert_non_null(drive_ask(drive, 64, &count));
    for (size_t i = 0; i < count; i++)
        counts[drive->steps[i].parents[0]]++;
    for (size_t i = 0; i < NODES; i++)
        assert_true(counts[i] > 0);
    drive_close(drive);
}

/* As often as the rule says there is a second parent, never the first once more. */
static void
crossing(void **state)
{
    struct drive *drive = drive_open(&(struct search_rule){.topology = SEARCH_TREE,
                                                           .select = SEARCH_SELECT_RANK,
                                                           .cross = 0.25,
                                                           .children = 256,
                                                           .width = 16},
                                     5);
    double crossed = 0;
    size_t count;
    (void)state;
    for (size_t i = 0; i < NODES; i++)
        drive_seed(drive, six[i]);
    assert_non_null(drive_ask(drive, 4096, &count));
    for (size_t i = 0; i < count; i++) {
        const struct search_step *step = &drive->steps[i];
        assert_in_range(step->parent_count, 1, 2);
        assert_true(step->parent_count == 1 || step->parents[0] != step->parents[1]);
        crossed += step->parent_count == 2;
    }
    assert_rate(crossed, 4096, 0.25);
    drive_close(drive);
}

/* With one node there is nobody to cross with. */
static void
nobody_to_cross_with(void **state)
{
    struct drive *drive = drive_open(&(struct search_rule){.topology = SEARCH_TREE, .cross = 1}, 1);
    size_t count;
    (void)state;
    drive_seed(drive, 1);
    assert_int_equal(drive_ask(drive, 1, &count)->parent_count, 1);
    drive_close(drive);
}

/* Three tiers by cost of those that are not the parent, one of each. */
static void
inspirations_are_mixed(void **state)
{
    struct drive *drive = drive_open(&(struct search_rule){.topology = SEARCH_TREE,
                                                           .select = SEARCH_SELECT_BEST,
                                                           .inspirations = 3,
                                                           .children = 200},
                                     5);
    unsigned seen[10] = {0};
    size_t count;
    (void)state;
    for (int i = 0; i < 10; i++)
        drive_seed(drive, 1 + i); /* number 0 is the parent, 1 to 9 are three tiers */
    assert_non_null(drive_ask(drive, 200, &count));
    for (size_t i = 0; i < count; i++) {
        const struct search_step *step = &drive->steps[i];
        assert_int_equal(step->inspiration_count, 3);
        for (int tier = 0; tier < 3; tier++) {
            assert_in_range(step->inspirations[tier], 1 + 3 * tier, 3 + 3 * tier);
            seen[step->inspirations[tier]]++;
        }
    }
    for (int i = 1; i < 10; i++)
        assert_in_range(seen[i], 40, 95);
    drive_close(drive);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_and_best),
        cmocka_unit_test(model_names_the_best),
        cmocka_unit_test(rank_chances),
        cmocka_unit_test(tournaments),
        cmocka_unit_test(epsilon_rates),
        cmocka_unit_test(softmax_chances),
        cmocka_unit_test(weighted_formula),
        cmocka_unit_test(weighted_among_equals),
        cmocka_unit_test(mix_formula),
        cmocka_unit_test(ucb_picks_what_the_formula_says),
        cmocka_unit_test(ucb_counts_what_is_out),
        cmocka_unit_test(crossing),
        cmocka_unit_test(nobody_to_cross_with),
        cmocka_unit_test(inspirations_are_mixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
