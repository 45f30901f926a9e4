/* Trees: throttle, prune, bias to leaves; and uct, recomputed at every step. */
#include "walk_unit.h"

/* Greedy, root throttled: the root is left after so many children though it is the best there is.
 */
static void
the_root_is_throttled(void **state)
{
    struct drive *drive = drive_open(
        &(struct search_rule){
            .topology = SEARCH_TREE, .select = SEARCH_SELECT_BEST, .throttle = 5, .rounds = 30},
        1);
    unsigned of_root = 0;
    size_t count;
    (void)state;
    drive_seed(drive, 1);
    while (drive_ask(drive, 1, &count)) {
        of_root += drive->steps[drive->count].parents[0] == 0;
        drive_tell(drive, 2 + (double)drive->count, 0);
        if (drive->count == 5)
            assert_int_equal(of_root, 5);
    }
    assert_int_equal(of_root, 5);
    assert_int_equal(drive->steps[5].parents[0], 1); /* the best of the others */
    drive_close(drive);
}

/* Without a seed the start is the root: five proposals from nothing, if one of them was right. */
static void
the_start_is_throttled(void **state)
{
    struct drive *drive = drive_open(&(struct search_rule){.topology = SEARCH_TREE,
                                                           .select = SEARCH_SELECT_EPSILON,
                                                           .number = 1,
                                                           .throttle = 5,
                                                           .rounds = 60},
                                     1);
    unsigned of_start = 0;
    size_t count;
    (void)state;
    while (drive_ask(drive, 1, &count)) {
        of_start += drive->steps[drive->count].parent_count == 0;
        drive_tell(drive, drive->count % 2 ? INFINITY : 3, 0);
    }
    assert_int_equal(of_start, 5);
    drive_close(drive);
}

/* A node with three children that all failed is left alone; one right child keeps it. */
static void
dead_branches_are_pruned(void **state)
{
    struct drive *drive = drive_open(
        &(struct search_rule){
            .topology = SEARCH_TREE, .select = SEARCH_SELECT_BEST, .prune = 3, .rounds = 20},
        1);
    static const int expected[] = {0, 0, 0, 1, 1, 1, 1, 1};
    size_t count;
    (void)state;
    drive_seed(drive, 1);
    drive_seed(drive, 2);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(drive_ask(drive, 1, &count)->parents[0], expected[i]);
        drive_tell(drive, i == 5 ? 9 : i == 7 ? 1.5 : INFINITY, 0); /* number 7 is dear, 9 cheap */
    }
    assert_int_equal(drive_ask(drive, 1, &count)->parents[0], 9);
    drive_close(drive);
}

/* When all are closed, all are open again. */
static void
nobody_open_is_everybody(void **state)
{
    struct drive *drive = drive_open(&(struct search_rule){.topology = SEARCH_TREE,
                                                           .select = SEARCH_SELECT_BEST,
                                                           .prune = 2,
                                                           .throttle = 1,
                                                           .rounds = 20},
                                     1);
    size_t count;
    (void)state;
    drive_seed(drive, 1);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(drive_ask(drive, 1, &count)->parents[0], 0);
        drive_tell(drive, INFINITY, 0);
    }
    drive_close(drive);
}

/* Leaves are three times as likely as nodes with children. */
static void
leaves_are_likelier(void **state)
{
    struct drive *drive = drive_open(&(struct search_rule){.topology = SEARCH_TREE,
                                                           .select = SEARCH_SELECT_EPSILON,
                                                           .number = 1,
                                                           .leaf_bias = 3,
                                                           .rounds = 3000},
                                     1);
    double children[3000] = {0}, expected = 0, variance = 0, leaves_taken = 0;
    size_t count, nodes = 4;
    (void)state;
    for (int i = 0; i < 4; i++)
        drive_seed(drive, 1 + i);
    while (drive_ask(drive, 1, &count)) {
        double leaves = 0;
        for (size_t i = 0; i < nodes; i++)
            leaves += children[i] == 0;
        double share = 3 * leaves / (2 * leaves + (double)nodes);
        expected += share;
        variance += share * (1 - share);
        int parent = drive->steps[drive->count].parents[0];
        leaves_taken += children[parent]++ == 0;
        if (drive->count % 10 == 0) /* a new leaf now and then */
            nodes = (size_t)drive_tell(drive, 7, 0) + 1;
        else
            drive_tell_nothing(drive);
    }
    assert_true(fabs(leaves_taken - expected) <= 4 * sqrt(variance));
    drive_close(drive);
}

/* ---- uct ---- */

/* The tree once more, with lists of children; node 0 is the start. */
struct tree {
    int parent[400];
    double visits[400], rewards[400], children[400];
    int number[400]; /* of the caller */
    int count;
};

static double
bound_of(const struct tree *tree, int child, double w)
{
    return tree->rewards[child] / tree->visits[child] +
           w * sqrt(log(tree->visits[tree->parent[child]]) / tree->visits[child]);
}

static int
go_down(const struct tree *tree, double w, bool seeds)
{
    for (int at = 0;;) {
        int best = -1;
        double mean = 0;
        for (int i = 1; i < tree->count; i++)
            if (tree->parent[i] == at) {
                if (best < 0 || bound_of(tree, i, w) > bound_of(tree, best, w))
                    best = i;
                mean = fmax(mean, tree->rewards[i] / tree->visits[i]);
            }
        if (best < 0)
            return at;
        double widen =
            mean + w * sqrt(log(tree->visits[at]) / (tree->children[at] * tree->children[at]));
        if (widen > bound_of(tree, best, w) && !(seeds && at == 0))
            return at;
        at = best;
    }
}

static void
grow(struct tree *tree, int parent, double reward, int number)
{
    tree->parent[tree->count] = parent;
    tree->number[tree->count] = number;
    tree->children[parent]++;
    int at = tree->count++;
    for (;;) {
        tree->visits[at]++;
        tree->rewards[at] += reward;
        if (at == 0)
            return;
        at = tree->parent[at];
    }
}

static double
reward_of(double cost, double first)
{
    double speed = first / cost;
    speed = speed < 0.1 ? 0.1 : speed > 10 ? 10 : speed;
    return isinf(cost) ? 0 : 0.4 + 1.2 * (speed - 0.1) / 9.9;
}

static unsigned
play_uct(bool seeds, double number, uint64_t seed)
{
    struct drive *drive = drive_open(
        &(struct search_rule){
            .topology = SEARCH_TREE, .select = SEARCH_SELECT_UCT, .number = number, .rounds = 200},
        seed);
    struct tree *tree = arena_alloc(drive->arena, sizeof *tree);
    double w = number > 0 ? number : 0.2828, first = 0;
    unsigned deepest = 0, depth[400] = {0};
    size_t count;
    tree->count = 1;
    for (int i = 0; seeds && i < 2; i++) {
        drive_seed(drive, 10 + i);
        grow(tree, 0, reward_of(10 + i, 10), i);
        first = 10;
    }
    while (drive_ask(drive, 3, &count)) {
        const struct search_step *step = &drive->steps[drive->count];
        int at = go_down(tree, w, seeds);
        assert_int_equal(step->parent_count, at > 0);
        if (at > 0)
            assert_int_equal(step->parents[0], tree->number[at]);
        static const double scale[] = {1, 0.02, 40}; /* beyond what is told apart, too */
        double cost = drive_outcome(seed, drive->count, 3, 20 * scale[drive->count % 3]);
        if (first == 0 && isfinite(cost))
            first = cost;
        depth[tree->count] = depth[at] + 1;
        deepest = depth[tree->count] > deepest ? depth[tree->count] : deepest;
        int told = drive_tell(drive, cost, 0);
        grow(tree, at, reward_of(cost, first), told);
    }
    assert_int_equal(drive->count, 200);
    drive_close(drive);
    return deepest;
}

static void
uct_widens_or_goes_down_as_the_formula_says(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        unsigned narrow = play_uct(seed % 2, 0, seed);
        assert_true(narrow > 2);
        play_uct(seed % 2, 0.05 + 0.3 * (double)seed, seed);
    }
}

/* Steps that are out count as visits: those of one round spread. */
static void
uct_spreads_within_a_round(void **state)
{
    struct drive *drive = drive_open(&(struct search_rule){.topology = SEARCH_TREE,
                                                           .select = SEARCH_SELECT_UCT,
                                                           .number = 2,
                                                           .children = 9,
                                                           .rounds = 1},
                                     1);
    unsigned counts[3] = {0};
    size_t count;
    (void)state;
    for (int i = 0; i < 3; i++)
        drive_seed(drive, 5);
    assert_non_null(drive_ask(drive, 9, &count));
    for (size_t i = 0; i < count; i++)
        counts[drive->steps[i].parents[0]]++;
    for (int i = 0; i < 3; i++)
        assert_int_equal(counts[i], 3);
    drive_close(drive);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_root_is_throttled),
        cmocka_unit_test(the_start_is_throttled),
        cmocka_unit_test(dead_branches_are_pruned),
        cmocka_unit_test(nobody_open_is_everybody),
        cmocka_unit_test(leaves_are_likelier),
        cmocka_unit_test(uct_widens_or_goes_down_as_the_formula_says),
        cmocka_unit_test(uct_spreads_within_a_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
