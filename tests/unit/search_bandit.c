/* The bandit: bounds recomputed, masks, rewards, clusters; and best-first over plans. */
#include "walk_unit.h"

enum { WAYS = 6 };

static int
tell_used(struct drive *drive, double cost, double x, const double used[WAYS])
{
    struct search_node node = {.number = drive->next++, .cost = cost, .where = {x, -x, 3, 0}};
    for (int i = 0; i < WAYS; i++)
        node.used[i] = used[i];
    drive->costs[node.number] = cost;
    search_walk_tell(drive->walk, &drive->steps[drive->count++], &node);
    return node.number;
}

static void
seed_used(struct drive *drive, double cost, double x, const double used[WAYS])
{
    struct search_node node = {.number = drive->next++, .cost = cost, .where = {x, -x, 3, 0}};
    for (int i = 0; i < WAYS; i++)
        node.used[i] = used[i];
    drive->costs[node.number] = cost;
    search_walk_seed(drive->walk, &node);
}

/* One cluster: mean + c sqrt(ln t / n), means beginning at a half and n at 1; the reward is the
 * share of the parent's time that was saved. */
static void
arms_by_their_bounds(void **state)
{
    static const double free[WAYS] = {0, 0.1, 0.2, 0.74, 0.3, 0.4};
    (void)state;
    for (int given = 0; given < 2; given++) {
        struct drive *drive = drive_open(&(struct search_rule){.topology = SEARCH_BANDIT,
                                                               .select = SEARCH_SELECT_UCB,
                                                               .number = given ? 0.3 : 0,
                                                               .arms = WAYS,
                                                               .rounds = 300},
                                         1);
        double mean[WAYS], played[WAYS], c = given ? 0.3 : 2;
        size_t count;
        for (int i = 0; i < WAYS; i++) {
            mean[i] = 0.5;
            played[i] = 1;
        }
        seed_used(drive, 100, 0, free);
        for (int t = 0; drive_ask(drive, 1, &count); t++) {
            const struct search_step *step = &drive->steps[drive->count];
            int expected = 0;
            double highest = -1;
            for (int i = 0; i < WAYS; i++) {
                double bound = mean[i] + c * sqrt(log(t > 1 ? t : 1) / played[i]);
                if (bound > highest) {
                    highest = bound;
                    expected = i;
                }
            }
            assert_int_equal(step->arm, expected);
            assert_int_equal(step->lane, 0);
            double parent = drive->costs[step->parents[0]];
            double cost = drive_outcome(4, drive->count, 4, 60 + 20 * expected);
            double reward = isfinite(cost) && cost < parent ? (parent - cost) / parent : 0;
            tell_used(drive, cost, 0, free);
            played[expected]++;
            mean[expected] += (reward - mean[expected]) / played[expected];
        }
        assert_int_equal(drive->count, 300);
        drive_close(drive);
    }
}

/* From three quarters on an arm is masked; if all are, none is. */
static void
used_arms_are_masked(void **state)
{
    static const double most[WAYS] = {0.75, 0.9, 0.1, 1, 0.74, 0.8};
    static const double all[WAYS] = {0.75, 0.9, 0.8, 1, 0.76, 0.8};
    (void)state;
    for (int every = 0; every < 2; every++) {
        struct drive *drive = drive_open(
            &(struct search_rule){
                .topology = SEARCH_BANDIT, .select = SEARCH_SELECT_UCB, .arms = WAYS, .rounds = 60},
            1);
        unsigned seen[WAYS] = {0};
        size_t count;
        seed_used(drive, 10, 0, every ? all : most);
        while (drive_ask(drive, 1, &count)) {
            seen[drive->steps[drive->count].arm]++;
            drive_tell_nothing(drive);
        }
        for (int i = 0; i < WAYS; i++)
            assert_int_equal(seen[i] > 0, every || i == 2 || i == 4);
        drive_close(drive);
    }
}

/* Chances of exp(what is left / T) within the cluster. */
static void
nodes_with_much_left_are_likelier(void **state)
{
    static const double left[3] = {0.1, 0.4, 0.7};
    (void)state;
    for (int given = 0; given < 2; given++) {
        struct drive *drive = drive_open(
            &(struct search_rule){.topology = SEARCH_BANDIT,
                                  .select = given ? SEARCH_SELECT_SOFTMAX : SEARCH_SELECT_UCB,
                                  .number = given ? 0.2 : 0,
                                  .children = 256,
                                  .rounds = 8},
            1);
        double counts[3] = {0}, total = 0, heat = given ? 0.2 : 1, tries = 0;
        size_t count;
        for (int i = 0; i < 3; i++) {
            seed_used(drive, 10, 0, (const double[WAYS]){0.75 - left[i]});
            total += exp(left[i] / heat);
        }
        while (drive_ask(drive, 256, &count))
            for (size_t i = 0; i < count; i++) {
                counts[drive->steps[drive->count].parents[0]]++;
                tries++;
                drive_tell_nothing(drive);
            }
        for (int i = 0; i < 3; i++)
            assert_rate(counts[i], tries, exp(left[i] / heat) / total);
        drive_close(drive);
    }
}

/* Three heaps of points become three clusters; each has arms of its own, masked by its own middle.
 */
static void
clusters_are_told_apart(void **state)
{
    static const double used[3][WAYS] = {{0.1, 0.9, 0.9}, {0.9, 0.1, 0.9}, {0.9, 0.9, 0.1}};
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct drive *drive = drive_open(&(struct search_rule){.topology = SEARCH_BANDIT,
                                                               .select = SEARCH_SELECT_UCB,
                                                               .width = 3,
                                                               .arms = 3,
                                                               .recluster = 4,
                                                               .rounds = 90},
                                         seed);
        int heap[100];
        size_t count;
        unsigned worked[3] = {0};
        for (int i = 0; i < 6; i++) {
            heap[i] = i % 3;
            seed_used(drive, 10, 100 * heap[i], used[heap[i]]);
        }
        while (drive_ask(drive, 1, &count)) {
            const struct search_step *step = &drive->steps[drive->count];
            int at = heap[step->parents[0]];
            if (step->round > 0) { /* made at the end of the first round */
                assert_int_equal(step->arm, at);
                worked[at]++;
            }
            double x = 100 * at + 10 * drive_draw(seed, drive->count);
            heap[drive->next] = at;
            tell_used(drive, drive_outcome(seed, drive->count, 3, 10), x, used[at]);
        }
        assert_true(worked[0] > 10 && worked[1] > 10 && worked[2] > 10);
        drive_close(drive);
    }
}

/* Steps that are out count as played: a round tries every arm. */
static void
arms_that_are_out_count(void **state)
{
    struct drive *drive = drive_open(
        &(struct search_rule){
            .topology = SEARCH_BANDIT, .select = SEARCH_SELECT_UCB, .arms = WAYS, .children = 14},
        1);
    unsigned seen[WAYS] = {0};
    size_t count;
    (void)state;
    drive_seed(drive, 5);
    assert_non_null(drive_ask(drive, 14, &count));
    for (size_t i = 0; i < count; i++)
        seen[drive->steps[i].arm]++;
    for (int i = 0; i < WAYS; i++)
        assert_in_range(seen[i], 1, 4);
    drive_close(drive);
}

/* There is nothing to play an arm on. */
static void
no_arm_from_the_start(void **state)
{
    struct drive *drive =
        drive_open(&(struct search_rule){.topology = SEARCH_BANDIT, .width = 3, .arms = 2}, 1);
    size_t count;
    (void)state;
    drive_seed(drive, INFINITY);
    assert_int_equal(drive_ask(drive, 1, &count)->arm, -1);
    assert_int_equal(drive->steps[0].parent_count, 0);
    drive_tell(drive, 3, 0);
    assert_int_equal(drive_ask(drive, 1, &count)->arm, 0);
    assert_int_equal(drive->steps[1].parents[0], 1);
    drive_close(drive);
}

/* ---- best-first ---- */

static void
give(struct drive *drive, int number, int parent, double score, double difficulty, double rating)
{
    search_walk_plan(drive->walk, &(struct search_plan){number, parent, score, difficulty, rating});
}

static struct drive *
open_plans(unsigned width, unsigned stale, unsigned rounds)
{
    struct drive *drive = drive_open(
        &(struct search_rule){
            .topology = SEARCH_BEST_FIRST, .width = width, .stale = stale, .rounds = rounds},
        1);
    drive_seed(drive, 10);
    return drive;
}

/* Higher score, then easier, then better rated; too difficult ones never. */
static void
plans_in_order(void **state)
{
    struct drive *drive = open_plans(1, 1, 50);
    static const int expected[] = {5, 2, 7, 3, 1, 4};
    size_t count;
    (void)state;
    give(drive, 1, 0, 0.5, 2, 1);
    give(drive, 2, 0, 0.7, 4, 1);
    give(drive, 3, 0, 0.5, 1, 1);
    give(drive, 4, 0, 0.5, 2, 0);
    give(drive, 5, 0, 0.8, 4, 9);
    give(drive, 6, 0, 0.9, 4.5, 9);
    give(drive, 7, 0, 0.5, 1, 2);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(drive_ask(drive, 1, &count)->plan, expected[i]);
        assert_false(drive->steps[drive->count].repeat);
        drive_tell(drive, INFINITY, 0);
    }
    assert_null(drive_ask(drive, 1, &count));
    give(drive, 2, 0, 1, 1, 1); /* was given up, stays closed */
    assert_null(drive_ask(drive, 1, &count));
    give(drive, 6, 0, 0.2, 3, 1); /* turned out easier: it goes on */
    assert_int_equal(drive_ask(drive, 1, &count)->plan, 6);
    drive_close(drive);
}

/* Repairs the last until one is right, then goes on from the plan's best; so many attempts without
 * progress end it. */
static void
a_plan_until_it_stops(void **state)
{
    struct drive *drive = open_plans(1, 3, 50);
    static const struct {
        double cost;
        int parent; /* of the step */
    } attempts[] = {{INFINITY, 0}, {INFINITY, 1}, {9, 2},  {INFINITY, 3}, {9.5, 3},
                    {8, 3},        {8, 6},        {11, 6}, {INFINITY, 6}};
    size_t count;
    (void)state;
    give(drive, 1, 0, 0.9, 1, 0);
    give(drive, 2, 6, 0.8, 1, 0);
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        const struct search_step *step = drive_ask(drive, 1, &count);
        assert_int_equal(step->plan, 1);
        assert_int_equal(step->repeat, i > 0);
        assert_int_equal(step->parents[0], attempts[i].parent);
        drive_tell(drive, attempts[i].cost, 0);
    }
    const struct search_step *step = drive_ask(drive, 1, &count);
    assert_int_equal(step->plan, 2);
    assert_false(step->repeat);
    assert_int_equal(step->parents[0], 6); /* the node that it names, which plan 1 made */
    drive_close(drive);
}

static void
plans_side_by_side(void **state)
{
    struct drive *drive = open_plans(2, 2, 50);
    size_t count;
    (void)state;
    for (int i = 0; i < 3; i++)
        give(drive, i, 0, 0.1 * i, 1, 0);
    for (int round = 0; round < 2; round++) {
        const struct search_step *steps = drive_ask(drive, 5, &count);
        assert_int_equal(count, 2);
        assert_int_equal(steps[0].plan, 2);
        assert_int_equal(steps[1].plan, 1);
        drive_tell(drive, round == 0 ? 5 : 6, 0);
        drive_tell(drive, INFINITY, 0);
    }
    const struct search_step *steps = drive_ask(drive, 5, &count);
    assert_int_equal(steps[0].plan, 2);
    assert_int_equal(steps[1].plan, 0); /* plan 1 was given up */
    drive_close(drive);
}

/* A plan without figures is tried after those with. */
static void
plans_without_figures(void **state)
{
    struct drive *drive = open_plans(1, 1, 9);
    size_t count;
    (void)state;
    give(drive, 1, 0, NAN, NAN, NAN);
    give(drive, 2, 0, 0.1, 4, 1);
    give(drive, 3, 0, NAN, 2, 1);
    for (int i = 0; i < 3; i++) {
        static const int expected[] = {2, 1, 3};
        assert_int_equal(drive_ask(drive, 1, &count)->plan, expected[i]);
        drive_tell(drive, INFINITY, 0);
    }
    drive_close(drive);
}

/* A plan that turns out too hard while it is worked on is given up; rounds are limited all the
 * same.
 */
static void
plans_change_and_rounds_end(void **state)
{
    struct drive *drive = open_plans(1, 9, 4);
    size_t count;
    (void)state;
    give(drive, 1, -1, 0.9, 1, 0);
    give(drive, 2, 77, 0.5, 1, 0);
    assert_int_equal(drive_ask(drive, 1, &count)->plan, 1);
    assert_int_equal(drive->steps[0].parent_count, 0);
    drive_tell_nothing(drive);
    give(drive, 1, 0, 0.9, 5, 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(drive_ask(drive, 1, &count)->plan, 2);
        assert_int_equal(drive->steps[drive->count].parent_count, 0); /* 77 is not known */
        drive_tell_nothing(drive);
    }
    assert_null(drive_ask(drive, 1, &count));
    drive_close(drive);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arms_by_their_bounds),
        cmocka_unit_test(used_arms_are_masked),
        cmocka_unit_test(nodes_with_much_left_are_likelier),
        cmocka_unit_test(clusters_are_told_apart),
        cmocka_unit_test(arms_that_are_out_count),
        cmocka_unit_test(no_arm_from_the_start),
        cmocka_unit_test(plans_in_order),
        cmocka_unit_test(a_plan_until_it_stops),
        cmocka_unit_test(plans_side_by_side),
        cmocka_unit_test(plans_without_figures),
        cmocka_unit_test(plans_change_and_rounds_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
