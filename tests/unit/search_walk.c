/* The frame of the walks, lines and beams; and what holds for every topology with every rule: a
 * walk that was cut and resumed goes on as if it had not been, failures are no parents, all failing
 * goes on from the start, and nonsense is survived. */
#include "walk_unit.h"

/* ---- lines ---- */

static void
samples_go_on_from_the_start(void **state)
{
    struct drive *drive = drive_open(
        &(struct search_rule){
            .topology = SEARCH_SAMPLES, .width = 3, .children = 2, .rounds = 4, .inspirations = 2},
        1);
    size_t count, all = 0;
    (void)state;
    while (drive_ask(drive, 100, &count)) {
        assert_int_equal(count, 6);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(drive->steps[drive->count].parent_count, 0);
            assert_int_equal(drive->steps[drive->count].inspiration_count, 0);
            drive_tell(drive, drive_outcome(1, all++, 3, 10), 0);
        }
    }
    assert_int_equal(all, 24);
    drive_close(drive);
}

static void
samples_use_each_seed_in_turn(void **state)
{
    struct drive *drive =
        drive_open(&(struct search_rule){.topology = SEARCH_SAMPLES, .width = 2, .rounds = 6}, 1);
    size_t count;
    (void)state;
    drive_seed(drive, INFINITY);
    drive_seed(drive, 9);
    drive_seed(drive, 7);
    drive_seed(drive, 8);
    for (int n = 0; drive_ask(drive, 1, &count); n++) {
        static const int expected[] = {2, 3, 1};
        assert_int_equal(drive->steps[drive->count].parents[0], expected[n % 3]);
        drive_tell(drive, 1, 0);
    }
    assert_int_equal(drive->count, 12);
    drive_close(drive);
}

/* Linear refinement repairs what failed last; a climb goes on from the best. */
static void
linear_last_and_best(void **state)
{
    (void)state;
    for (int climb = 0; climb < 2; climb++) {
        struct drive *drive = drive_open(
            &(struct search_rule){.topology = SEARCH_LINEAR,
                                  .select = climb ? SEARCH_SELECT_BEST : SEARCH_SELECT_LAST,
                                  .width = 9, /* it is one line all the same */
                                  .rounds = 60},
            1);
        int last = -1, best = -1;
        size_t count;
        while (drive_ask(drive, 100, &count)) {
            const struct search_step *step = &drive->steps[drive->count];
            int expected = climb ? best : last;
            assert_int_equal(count, 1);
            assert_int_equal(step->lane, 0);
            assert_int_equal(step->parent_count, expected >= 0);
            assert_int_equal(expected >= 0 ? step->parents[0] : -1, expected);
            double cost = drive_outcome(5, drive->count, 2, 10);
            last = drive_tell(drive, cost, 0);
            if (isfinite(cost) && (best < 0 || cost < drive->costs[best]))
                best = last;
        }
        assert_int_equal(drive->count, 60);
        drive_close(drive);
    }
}

/* Of several proposals at once the fastest is gone on from; if all failed, the last of them. */
static void
linear_keeps_the_fastest_of_a_round(void **state)
{
    struct drive *drive = drive_open(
        &(struct search_rule){.topology = SEARCH_LINEAR, .children = 4, .rounds = 30}, 1);
    int expected = -1;
    size_t count;
    (void)state;
    while (drive_ask(drive, 4, &count)) {
        int next = -1;
        assert_int_equal(count, 4);
        for (int i = 0; i < 4; i++) {
            const struct search_step *step = &drive->steps[drive->count];
            assert_int_equal(step->parent_count > 0 ? step->parents[0] : -1, expected);
            int number = drive_tell(drive, drive_outcome(2, drive->count, 2, 10), 0);
            if (next < 0 || !(drive->costs[next] <= drive->costs[number]) ||
                isinf(drive->costs[next]))
                next = number;
        }
        expected = next;
    }
    drive_close(drive);
}

/* Which line each number belongs to; a seed to that which began with it. */
static void
trajectories_never_mix(void **state)
{
    (void)state;
    for (int select = 0; select < SEARCH_SELECT_COUNT; select++) {
        struct drive *drive = drive_open(&(struct search_rule){.topology = SEARCH_TRAJECTORIES,
                                                               .select = (enum search_select)select,
                                                               .width = 4,
                                                               .children = 2,
                                                               .rounds = 12,
                                                               .cross = 0.5,
                                                               .inspirations = 2},
                                         (uint64_t)select);
        unsigned lane[200] = {0};
        size_t count;
        for (unsigned i = 0; i < 4; i++) {
            lane[drive->next] = i;
            drive_seed(drive, 10 + i);
        }
        while (drive_ask(drive, 3, &count))
            for (size_t i = 0; i < count; i++) {
                const struct search_step *step = &drive->steps[drive->count];
                for (size_t p = 0; p < step->parent_count; p++)
                    assert_int_equal(lane[step->parents[p]], step->lane);
                for (size_t p = 0; p < step->inspiration_count; p++)
                    assert_int_equal(lane[step->inspirations[p]], step->lane);
                lane[drive->next] = step->lane;
                drive_tell(drive, drive_outcome(6, drive->count, 3, 10), 0);
            }
        assert_int_equal(drive->count, 96);
        drive_close(drive);
    }
}

static void
a_race_ends_when_one_is_right(void **state)
{
    (void)state;
    for (size_t most = 1; most <= 8; most++)
        for (uint64_t right = 0; right < 20; right++) {
            struct drive *drive = drive_open(
                &(struct search_rule){.topology = SEARCH_RACE, .width = 4, .rounds = 5}, 1);
            int last[4] = {-1, -1, -1, -1};
            size_t count, after = 0;
            bool over = false;
            drive_seed(drive, 3); /* that something is right already is no reason */
            last[0] = last[1] = last[2] = last[3] = 0;
            while (drive_ask(drive, most, &count)) {
                assert_false(over);
                for (size_t i = 0; i < count; i++) {
                    const struct search_step *step = &drive->steps[drive->count];
                    assert_int_equal(step->parents[0], last[step->lane]);
                    after += over;
                    bool now = drive->count == right;
                    last[step->lane] = drive_tell(drive, now ? 5 : INFINITY, 0);
                    over |= now;
                }
            }
            assert_true(over && drive->count <= 20);
            assert_true(after < most && after < 4); /* those that were under way */
            drive_close(drive);
        }
}

/* ---- beams ---- */

static void
sort_numbers(const struct drive *drive, int *numbers, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0 && drive->costs[numbers[j]] < drive->costs[numbers[j - 1]]; j--) {
            int other = numbers[j];
            numbers[j] = numbers[j - 1];
            numbers[j - 1] = other;
        }
}

/* The k cheapest of those on the places and those that came; each place is worked on. */
static void
a_beam_keeps_the_k_cheapest(void **state)
{
    enum { K = 3, CHILDREN = 4 };
    struct drive *drive = drive_open(&(struct search_rule){.topology = SEARCH_BEAM,
                                                           .select = SEARCH_SELECT_BEST,
                                                           .width = K,
                                                           .children = CHILDREN,
                                                           .rounds = 25},
                                     1);
    int beam[K + K * CHILDREN] = {0, 1, 2, 3}, best[64];
    size_t members = 4, count;
    (void)state;
    for (int i = 0; i < 4; i++)
        drive_seed(drive, 30 - i);
    for (;;) {
        sort_numbers(drive, beam, members);
        members = members < K ? members : K;
        assert_int_equal(search_walk_best(drive->walk, best, 64), drive->count ? members : 4);
        assert_memory_equal(best, beam, members * sizeof *best);
        if (!drive_ask(drive, 100, &count))
            break;
        assert_int_equal(count, K * CHILDREN);
        size_t before = members;
        for (size_t i = 0; i < count; i++) {
            const struct search_step *step = &drive->steps[drive->count];
            assert_int_equal(step->lane, i / CHILDREN);
            assert_int_equal(step->parents[0], beam[step->lane % before]);
            double cost = drive_outcome(9, drive->count, 3, 25 - 0.5 * step->round);
            int number = drive_tell(drive, cost, 0);
            if (isfinite(cost))
                beam[members++] = number;
        }
    }
    assert_int_equal(drive->count, 25 * K * CHILDREN);
    drive_close(drive);
}

/* Under every rule there are k different ones, and the cheapest is among them. */
static void
a_beam_of_any_rule(void **state)
{
    (void)state;
    for (int select = 0; select < SEARCH_SELECT_COUNT; select++) {
        struct drive *drive = drive_open(&(struct search_rule){.topology = SEARCH_BEAM,
                                                               .select = (enum search_select)select,
                                                               .width = 3,
                                                               .children = 3,
                                                               .rounds = 20},
                                         4);
        double cheapest = INFINITY;
        size_t count;
        int best[64];
        while (drive_ask(drive, 100, &count)) {
            for (size_t i = 0; i < count; i++) {
                double cost = drive_outcome(4, drive->count, 4, 20);
                drive_tell(drive, cost, 0);
                cheapest = fmin(cheapest, cost);
            }
            assert_int_equal(search_walk_best(drive->walk, best, 64), 3);
            assert_true(drive->costs[best[0]] == cheapest);
            assert_true(best[0] != best[1] && best[1] != best[2] && best[0] != best[2]);
        }
        drive_close(drive);
    }
}

/* Places for different cells come before a second of the same. */
static void
a_beam_with_kinds_apart(void **state)
{
    struct drive *drive = drive_open(
        &(struct search_rule){
            .topology = SEARCH_BEAM, .width = 2, .children = 3, .rounds = 2, .apart = true},
        1);
    static const double costs[] = {5, 6, 7, 50, 60, 4};
    static const unsigned cells[] = {1, 1, 1, 2, 2, 1};
    size_t count;
    int best[8];
    (void)state;
    drive_ask(drive, 6, &count);
    for (int i = 0; i < 6; i++)
        drive_tell(drive, costs[i], cells[i]);
    assert_int_equal(search_walk_best(drive->walk, best, 8), 2);
    assert_int_equal(best[0], 5);
    assert_int_equal(best[1], 3); /* 10 times as dear as the second of the first kind */
    const struct search_step *steps = drive_ask(drive, 6, &count);
    assert_int_equal(steps[0].parents[0], 5);
    assert_int_equal(steps[3].parents[0], 3);
    drive_close(drive);
}

/* ---- all of them ---- */

/* Whether what failed may be gone on from: to repair it, or as a node without reward. */
static bool
repairs(const struct search_rule *rule)
{
    switch (rule->topology) {
    case SEARCH_LINEAR:
    case SEARCH_TRAJECTORIES:
        return rule->select == SEARCH_SELECT_LAST;
    case SEARCH_RACE:
    case SEARCH_BEST_FIRST:
        return true;
    case SEARCH_TREE:
        return rule->select == SEARCH_SELECT_UCT;
    default:
        return false;
    }
}

static struct search_rule
rule_of(int topology, int select)
{
    return (struct search_rule){.topology = (enum search_topology)topology,
                                .select = (enum search_select)select,
                                .width = 3,
                                .children = 2,
                                .rounds = 7,
                                .cross = 0.3,
                                .migrate_every = 2,
                                .migrate_rate = 0.4,
                                .pool = 0.3,
                                .throttle = 4,
                                .prune = 2,
                                .leaf_bias = 2,
                                .arms = 4,
                                .recluster = 5,
                                .stale = 2,
                                .inspirations = 2};
}

static void
give_plans(struct search_walk *walk)
{
    for (int i = 0; i < 6; i++)
        search_walk_plan(
            walk, &(struct search_plan){
                      .number = i, .parent = i % 3 - 1, .score = 0.1 * i, .difficulty = 1 + i % 5});
}

/* The node that step number `n` comes to, the same whoever asks. */
static struct search_node
made_up(uint64_t seed, size_t n, int number)
{
    struct search_node node = {
        .number = number, .cost = drive_outcome(seed, n, 4, 10), .cell = (unsigned)(n * 7 % 5)};
    if (n % 11 == 3)
        node.number = -1;
    for (size_t i = 0; i < 4; i++)
        node.where[i] = drive_draw(seed + 1, 4 * n + i);
    for (size_t i = 0; i < SEARCH_ARMS; i++)
        node.used[i] = drive_draw(seed + 2, SEARCH_ARMS * n + i);
    return node;
}

enum { SEEDS = 3, LONGEST = 64 };

static struct search_walk *
open_made_up(struct arena *arena, const struct search_rule *rule, uint64_t seed, bool seeds)
{
    struct search_walk *walk = search_walk_open(arena, rule, seed);
    for (int i = 0; seeds && i < SEEDS; i++)
        search_walk_seed(walk, &(struct search_node){.number = i, .cost = 12 + i, .cell = 1});
    give_plans(walk);
    return walk;
}

/* Tells number `from` and all after it, up to `until`. Of the steps `known` must come out the same.
 */
static size_t
go_on(struct search_walk *walk, uint64_t seed, size_t most, struct search_step *steps, size_t known,
      size_t from, size_t until)
{
    struct search_step asked[LONGEST];
    size_t count, n = from;
    while (n < until && (count = search_walk_ask(walk, asked, most)) > 0)
        for (size_t i = 0; i < count && n < until; i++, n++) {
            if (n < known)
                assert_memory_equal(&asked[i], &steps[n], sizeof *steps);
            steps[n] = asked[i];
            struct search_node node = made_up(seed, n, SEEDS + (int)n);
            search_walk_tell(walk, &asked[i], &node);
        }
    return n;
}

/* A walk is cut after any tell. Another one is asked and told what is recorded, one by one, and
 * then goes on as the first one did. A race is told as it was asked, since it may end in between.
 */
static void
resumed_equals_uninterrupted(void **state)
{
    (void)state;
    for (int t = 0; t < SEARCH_TOPOLOGY_COUNT; t++)
        for (int s = 0; s < SEARCH_SELECT_COUNT; s++) {
            struct search_rule rule = rule_of(t, s);
            struct search_step steps[LONGEST] = {0};
            uint64_t seed = (uint64_t)(t * 100 + s);
            struct arena *arena = arena_create();
            struct search_walk *walk = open_made_up(arena, &rule, seed, s % 2);
            size_t all = go_on(walk, seed, 3, steps, 0, 0, LONGEST);
            for (size_t cut = 0; cut <= all; cut += t == SEARCH_RACE ? 3 : 1) {
                walk = open_made_up(arena, &rule, seed, s % 2);
                size_t told = go_on(walk, seed, t == SEARCH_RACE ? 3 : 1, steps, all, 0, cut);
                assert_int_equal(told, cut);
                assert_int_equal(go_on(walk, seed, 3, steps, all, cut, LONGEST), all);
            }
            arena_destroy(arena);
        }
}

/* How many are handed out at once makes no difference, but in a race, which ends in between. */
static void
steps_do_not_depend_on_most(void **state)
{
    (void)state;
    for (int t = 0; t < SEARCH_TOPOLOGY_COUNT; t++)
        for (int s = 0; s < SEARCH_SELECT_COUNT; s++) {
            struct search_rule rule = rule_of(t, s);
            struct search_step steps[LONGEST] = {0};
            struct arena *arena = arena_create();
            size_t all =
                go_on(open_made_up(arena, &rule, 3, true), 3, LONGEST, steps, 0, 0, LONGEST);
            assert_true(all > 0);
            for (size_t most = 1; most < 8; most++) {
                size_t now =
                    go_on(open_made_up(arena, &rule, 3, true), 3, most, steps, all, 0, LONGEST);
                assert_true(t == SEARCH_RACE ? now <= all : now == all);
            }
            arena_destroy(arena);
        }
}

/* Another seed, another walk; where there is chance in it. */
static void
seeds_make_a_difference(void **state)
{
    struct search_rule rule = rule_of(SEARCH_EVOLUTION, SEARCH_SELECT_RANK);
    struct search_step a[LONGEST] = {0}, b[LONGEST] = {0};
    struct arena *arena = arena_create();
    (void)state;
    size_t all = go_on(open_made_up(arena, &rule, 3, true), 3, 4, a, 0, 0, LONGEST);
    assert_int_equal(go_on(open_made_up(arena, &rule, 4, true), 3, 4, b, 0, 0, LONGEST), all);
    assert_memory_not_equal(a, b, sizeof a);
    arena_destroy(arena);
}

static void
what_failed_is_no_parent(void **state)
{
    (void)state;
    for (int t = 0; t < SEARCH_TOPOLOGY_COUNT; t++)
        for (int s = 0; s < SEARCH_SELECT_COUNT; s++)
            for (int seeds = 0; seeds < 2; seeds++) {
                struct search_rule rule = rule_of(t, s);
                struct drive *drive = drive_open(&rule, 8);
                size_t count, failing = 0;
                for (int i = 0; seeds && i < 3; i++)
                    drive_seed(drive, i == 1 ? INFINITY : 8 + i);
                give_plans(drive->walk);
                while (drive_ask(drive, 4, &count))
                    for (size_t i = 0; i < count; i++) {
                        const struct search_step *step = &drive->steps[drive->count];
                        for (size_t p = 0; p < step->parent_count; p++)
                            failing += isinf(drive->costs[step->parents[p]]);
                        for (size_t p = 0; p < step->inspiration_count; p++)
                            assert_true(isfinite(drive->costs[step->inspirations[p]]));
                        drive_tell(drive, drive_outcome(8, drive->count, 2, 10), 0);
                    }
                assert_true(drive->count > 0);
                assert_true(failing == 0 || repairs(&rule));
                drive_close(drive);
            }
}

/* With no seed every step is from the start, or repairs; with one it is from that. */
static void
all_failing_goes_on_from_the_start(void **state)
{
    (void)state;
    for (int t = 0; t < SEARCH_TOPOLOGY_COUNT; t++)
        for (int s = 0; s < SEARCH_SELECT_COUNT; s++)
            for (int seed = 0; seed < 2; seed++)
                for (int nothing = 0; nothing < 2; nothing++) {
                    struct search_rule rule = rule_of(t, s);
                    struct drive *drive = drive_open(&rule, 8);
                    size_t count;
                    int best[4];
                    if (seed)
                        drive_seed(drive, 5);
                    search_walk_plan(drive->walk,
                                     &(struct search_plan){.number = 1, .difficulty = 1});
                    while (drive_ask(drive, 4, &count))
                        for (size_t i = 0; i < count; i++) {
                            const struct search_step *step = &drive->steps[drive->count];
                            if (nothing || !repairs(&rule)) {
                                assert_int_equal(step->parent_count, seed);
                                assert_true(!seed || step->parents[0] == 0);
                            }
                            if (nothing)
                                drive_tell_nothing(drive);
                            else
                                drive_tell(drive, INFINITY, 0);
                        }
                    size_t expected = t == SEARCH_BEST_FIRST ? 2 : t == SEARCH_BANDIT ? 14 : 42;
                    if (t == SEARCH_LINEAR || t == SEARCH_EVOLUTION || t == SEARCH_ELITES)
                        expected = 14;
                    assert_int_equal(drive->count, expected);
                    assert_int_equal(search_walk_best(drive->walk, best, 4), seed);
                    assert_int_equal(search_walk_stale(drive->walk),
                                     t == SEARCH_BEST_FIRST ? 1 : 7);
                    drive_close(drive);
                }
}

static void
stale_counts_rounds(void **state)
{
    struct drive *drive =
        drive_open(&(struct search_rule){.topology = SEARCH_BEAM, .width = 2, .rounds = 9}, 1);
    static const double costs[][2] = {{9, 11},  {INFINITY, INFINITY}, {10, 12}, {INFINITY, 8.9},
                                      {8.9, 9}, {INFINITY, 10}};
    static const unsigned expected[] = {0, 1, 2, 0, 1, 2};
    size_t count;
    (void)state;
    drive_seed(drive, 10);
    for (int round = 0; round < 6; round++) {
        drive_ask(drive, 2, &count);
        drive_tell(drive, costs[round][0], 0);
        drive_tell(drive, costs[round][1], 0);
        assert_int_equal(search_walk_stale(drive->walk), expected[round]);
    }
    drive_close(drive);
}

/* The same candidate again is no second node: it is neither kept nor handed on twice. */
static void
a_known_number_is_no_new_node(void **state)
{
    (void)state;
    for (int t = 0; t < SEARCH_TOPOLOGY_COUNT; t++) {
        struct search_rule rule = rule_of(t, SEARCH_SELECT_BEST);
        struct arena *arena = arena_create();
        struct search_walk *walk = search_walk_open(arena, &rule, 1);
        struct search_node same = {.number = 3, .cost = 4};
        struct search_step steps[4];
        size_t count;
        int best[8];
        search_walk_seed(walk, &same);
        search_walk_seed(walk, &same);
        give_plans(walk);
        while ((count = search_walk_ask(walk, steps, 4)) > 0)
            for (size_t i = 0; i < count; i++)
                search_walk_tell(walk, &steps[i], &same);
        assert_int_equal(search_walk_best(walk, best, 8), 1);
        assert_int_equal(best[0], 3);
        arena_destroy(arena);
    }
}

/* ---- nonsense ---- */

static double
any_double(struct rng *rng)
{
    static const double odd[] = {0, -1, 1e308, -1e308, 1e-300, INFINITY, -INFINITY, NAN, 0.5, 3};
    return rng_below(rng, 3) ? rng_uniform(rng) * 2 : odd[rng_below(rng, 10)];
}

static unsigned
any_number(struct rng *rng)
{
    static const unsigned odd[] = {0, 1, 2, 3, 5, 8, 13, 40};
    return odd[rng_below(rng, 8)];
}

static struct search_rule
any_rule(struct rng *rng)
{
    struct search_rule rule = {
        .topology = (enum search_topology)rng_below(rng, SEARCH_TOPOLOGY_COUNT),
        .select = (enum search_select)rng_below(rng, SEARCH_SELECT_COUNT),
        .number = any_double(rng),
        .width = any_number(rng),
        .children = any_number(rng),
        .population = any_number(rng),
        .rounds = 1 + any_number(rng),
        .elite = any_number(rng),
        .apart = rng_below(rng, 2),
        .cross = any_double(rng),
        .migrate_every = any_number(rng),
        .migrate_rate = any_double(rng),
        .pool = any_double(rng),
        .throttle = any_number(rng),
        .prune = any_number(rng),
        .leaf_bias = any_double(rng),
        .arms = any_number(rng),
        .recluster = any_number(rng),
        .stale = any_number(rng),
        .inspirations = any_number(rng),
    };
    return rule;
}

static struct search_node
any_node(struct rng *rng, int next)
{
    struct search_node node = {.number = next, .cell = (unsigned)rng_below(rng, 6)};
    node.cost = rng_below(rng, 3) ? 1 + rng_uniform(rng) : any_double(rng);
    if (rng_below(rng, 8) == 0)
        node.number = next > 0 ? (int)rng_below(rng, (uint64_t)next) : -1;
    if (rng_below(rng, 8) == 0)
        node.number = -1;
    for (size_t i = 0; i < 4; i++)
        node.where[i] = any_double(rng);
    for (size_t i = 0; i < SEARCH_ARMS; i++)
        node.used[i] = any_double(rng);
    return node;
}

static void
any_plan(struct rng *rng, struct search_walk *walk, int next)
{
    search_walk_plan(walk, &(struct search_plan){.number = (int)rng_below(rng, 12),
                                                 .parent = (int)rng_below(rng, 5 + next) - 2,
                                                 .score = any_double(rng),
                                                 .difficulty = 3 * any_double(rng),
                                                 .rating = any_double(rng)});
}

static void
check_step(const struct search_step *step, const struct search_rule *rule, const double *costs,
           int next)
{
    assert_true(step->parent_count <= 2);
    assert_true(step->lane < (rule->width ? rule->width : 1));
    assert_true(step->arm >= -1 && step->arm < (int)(rule->arms ? rule->arms : 1));
    assert_true(step->parent_count < 2 || step->parents[0] != step->parents[1]);
    for (size_t i = 0; i < step->parent_count; i++)
        assert_true(step->parents[i] >= 0 && step->parents[i] < next);
    for (size_t i = 0; i < step->inspiration_count; i++) {
        assert_true(step->inspirations[i] >= 0 && step->inspirations[i] < next);
        assert_true(isfinite(costs[step->inspirations[i]]));
        for (size_t p = 0; p < step->parent_count; p++)
            assert_int_not_equal(step->inspirations[i], step->parents[p]);
        for (size_t p = 0; p < i; p++)
            assert_int_not_equal(step->inspirations[i], step->inspirations[p]);
    }
}

static void
check_best(const struct search_walk *walk, const double *costs)
{
    int best[40];
    size_t count = search_walk_best(walk, best, 40);
    for (size_t i = 0; i < count; i++) {
        assert_true(isfinite(costs[best[i]]));
        assert_true(i == 0 || costs[best[i - 1]] <= costs[best[i]]);
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(best[i], best[j]);
    }
}

static void
survive(uint64_t seed)
{
    enum { NUMBERS = 80000 };
    struct rng rng = rng_stream(seed, "nonsense");
    struct arena *arena = arena_create();
    struct search_rule rule = any_rule(&rng);
    struct search_walk *walk = search_walk_open(arena, &rule, seed);
    double *costs = arena_array(arena, NUMBERS, sizeof *costs);
    struct search_step steps[50];
    int next = 0;
    size_t count, total = 0, most = 1 + rng_below(&rng, 50);
    size_t limit =
        (size_t)rule.rounds * (rule.width ? rule.width : 1) * (rule.children ? rule.children : 1);
    for (uint64_t i = rng_below(&rng, 6); i > 0; i--) {
        struct search_node node = any_node(&rng, next);
        if (node.number == next)
            costs[next++] = node.cost;
        search_walk_seed(walk, &node);
        any_plan(&rng, walk, next);
    }
    while (total < 600 && (count = search_walk_ask(walk, steps, most)) > 0) {
        assert_true(count <= most);
        for (size_t i = 0; i < count; i++)
            check_step(&steps[i], &rule, costs, next);
        for (size_t i = 0; i < count; i++) {
            struct search_node node = any_node(&rng, next);
            if (node.number == next)
                costs[next++] = node.cost;
            if (rule.select == SEARCH_SELECT_MODEL && rng_below(&rng, 2))
                steps[i].parents[0] = (int)rng_below(&rng, 20);
            search_walk_tell(walk, &steps[i], &node);
            any_plan(&rng, walk, next);
        }
        total += count;
        assert_true(total <= limit);
        check_best(walk, costs);
    }
    arena_destroy(arena);
}

static void
nonsense_is_survived(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 800; seed++)
        survive(seed);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_go_on_from_the_start),
        cmocka_unit_test(samples_use_each_seed_in_turn),
        cmocka_unit_test(linear_last_and_best),
        cmocka_unit_test(linear_keeps_the_fastest_of_a_round),
        cmocka_unit_test(trajectories_never_mix),
        cmocka_unit_test(a_race_ends_when_one_is_right),
        cmocka_unit_test(a_beam_keeps_the_k_cheapest),
        cmocka_unit_test(a_beam_of_any_rule),
        cmocka_unit_test(a_beam_with_kinds_apart),
        cmocka_unit_test(resumed_equals_uninterrupted),
        cmocka_unit_test(steps_do_not_depend_on_most),
        cmocka_unit_test(seeds_make_a_difference),
        cmocka_unit_test(what_failed_is_no_parent),
        cmocka_unit_test(all_failing_goes_on_from_the_start),
        cmocka_unit_test(stale_counts_rounds),
        cmocka_unit_test(a_known_number_is_no_new_node),
        cmocka_unit_test(nonsense_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
