/* Evolution, islands and elites against a second, plain version of their definitions. */
#include "walk_unit.h"

enum { ISLANDS = 8, ROOM = 64 };

/* Who should be on which island, by number. */
struct model {
    const double *costs;
    int members[ISLANDS][ROOM];
    size_t count[ISLANDS];
    unsigned born[DRIVE_MOST]; /* round, from 1; 0: a seed */
    bool sent[DRIVE_MOST];
    unsigned moved; /* migrants that were new where they came to */
};

static bool
is_member(const struct model *model, size_t island, int number)
{
    for (size_t i = 0; i < model->count[island]; i++)
        if (model->members[island][i] == number)
            return true;
    return false;
}

static void
join(struct model *model, size_t island, int number)
{
    assert_false(is_member(model, island, number));
    model->members[island][model->count[island]++] = number;
}

static void
sort_island(struct model *model, size_t island)
{
    int *members = model->members[island];
    for (size_t i = 1; i < model->count[island]; i++)
        for (size_t j = i; j > 0; j--) {
            int a = members[j - 1], b = members[j];
            if (model->costs[a] < model->costs[b] || (model->costs[a] == model->costs[b] && a < b))
                break;
            members[j - 1] = b;
            members[j] = a;
        }
}

/* While there are too many: of those that are no elite the oldest leave first, the dearest of them
 * before others; those of this round last. */
static void
renew(struct model *model, size_t island, unsigned round, size_t places, size_t elite)
{
    int *members = model->members[island];
    sort_island(model, island);
    while (model->count[island] > places) {
        size_t leaves = model->count[island];
        for (size_t i = elite; i < model->count[island]; i++)
            if (model->born[members[i]] != round)
                leaves = i; /* the dearest old one */
        if (leaves == model->count[island])
            leaves--;
        memmove(&members[leaves], &members[leaves + 1],
                (model->count[island] - leaves - 1) * sizeof *members);
        model->count[island]--;
    }
}

static void
migrate(struct model *model, size_t width, size_t places, double rate)
{
    int leaving[ISLANDS][ROOM];
    size_t count[ISLANDS] = {0};
    for (size_t i = 0; i < width; i++) {
        sort_island(model, i);
        for (size_t m = 0; m < model->count[i]; m++)
            if (!model->sent[model->members[i][m]] &&
                (double)count[i] < rate * (double)model->count[i])
                leaving[i][count[i]++] = model->members[i][m];
    }
    for (size_t i = 0; i < width; i++)
        for (size_t m = 0; m < count[i]; m++) {
            size_t next = (i + 1) % width, previous = (i + width - 1) % width;
            model->sent[leaving[i][m]] = true;
            if (!is_member(model, next, leaving[i][m])) {
                join(model, next, leaving[i][m]);
                model->moved++;
            }
            if (!is_member(model, previous, leaving[i][m])) {
                join(model, previous, leaving[i][m]);
                model->moved++;
            }
        }
    for (size_t i = 0; i < width; i++) {
        sort_island(model, i);
        model->count[i] = model->count[i] < places ? model->count[i] : places;
    }
}

/* What the walk would hand on is exactly the members of all islands. */
static void
compare_members(const struct drive *drive, const struct model *model, size_t width)
{
    int best[ISLANDS * ROOM];
    size_t count = search_walk_best(drive->walk, best, ISLANDS * ROOM), different = 0;
    bool seen[DRIVE_MOST] = {0};
    for (size_t i = 0; i < width; i++)
        for (size_t m = 0; m < model->count[i]; m++) {
            different += !seen[model->members[i][m]];
            seen[model->members[i][m]] = true;
        }
    assert_int_equal(count, different);
    for (size_t i = 0; i < count; i++)
        assert_true(seen[best[i]]);
}

/* Plays a walk of populations to its end beside the model. */
static unsigned
play(const struct search_rule *rule, unsigned seeds, uint64_t seed)
{
    struct drive *drive = drive_open(rule, seed);
    struct model *model = arena_alloc(drive->arena, sizeof *model);
    size_t width = rule->topology == SEARCH_ISLANDS ? rule->width : 1, count;
    unsigned begun[ISLANDS] = {0};
    model->costs = drive->costs;
    for (unsigned i = 0; i < seeds; i++)
        drive_seed(drive, 12 + i);
    for (size_t i = 0; i < width && seeds > 0; i++) {
        for (size_t s = i; s < seeds; s += width)
            join(model, i, (int)s);
        if (i >= seeds)
            join(model, i, (int)(i % seeds));
        renew(model, i, UINT32_MAX, rule->population, 0);
    }
    for (unsigned round = 1; drive_ask(drive, 1000, &count); round++) {
        assert_int_equal(count, width * rule->children);
        for (size_t n = 0; n < count; n++) {
            const struct search_step *step = &drive->steps[drive->count];
            size_t lane = step->lane;
            assert_int_equal(lane, n / rule->children);
            bool begins = seeds == 0 && begun[lane]++ < rule->population;
            assert_int_equal(step->parent_count == 0, begins || model->count[lane] == 0);
            for (size_t p = 0; p < step->parent_count; p++)
                assert_true(is_member(model, lane, step->parents[p]));
            for (size_t p = 0; p < step->inspiration_count; p++)
                assert_true(is_member(model, lane, step->inspirations[p]));
            if (rule->select == SEARCH_SELECT_BEST && step->parent_count > 0) {
                sort_island(model, lane);
                assert_int_equal(step->parents[0], model->members[lane][0]);
            }
            drive_tell(drive, drive_outcome(seed + lane, drive->count, 3, 11), 0);
        }
        for (size_t n = drive->count - count; n < drive->count; n++)
            if (isfinite(drive->costs[(size_t)seeds + n])) {
                model->born[seeds + n] = round;
                join(model, drive->steps[n].lane, (int)(seeds + n));
            }
        for (size_t i = 0; i < width; i++)
            renew(model, i, round, rule->population, rule->elite);
        if (width > 1 && rule->migrate_every > 0 && round % rule->migrate_every == 0)
            migrate(model, width, rule->population, rule->migrate_rate);
        compare_members(drive, model, width);
    }
    assert_int_equal(drive->count, rule->rounds * width * rule->children);
    unsigned moved = model->moved;
    drive_close(drive);
    return moved;
}

static void
evolution_as_defined(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 40; n++)
        play(&(struct search_rule){.topology = SEARCH_EVOLUTION,
                                   .select = n % 4 ? SEARCH_SELECT_RANK : SEARCH_SELECT_BEST,
                                   .width = 5, /* means nothing here */
                                   .children = 1 + n % 5,
                                   .population = 3 + n % 4,
                                   .elite = 1 + n % 6,
                                   .cross = 0.4,
                                   .inspirations = 2,
                                   .rounds = 30},
             n % 3 ? 0 : n % 9, n);
}

static void
islands_as_defined(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 40; n++) {
        unsigned moved = play(
            &(struct search_rule){.topology = SEARCH_ISLANDS,
                                  .select = n % 2 ? SEARCH_SELECT_TOURNAMENT : SEARCH_SELECT_BEST,
                                  .width = 2 + n % 5,
                                  .children = 1 + n % 3,
                                  .population = 3 + n % 6,
                                  .elite = 1 + n % 3,
                                  .cross = 0.4,
                                  .inspirations = 2,
                                  .migrate_every = n % 4,
                                  .migrate_rate = 0.1 + 0.2 * (n % 3),
                                  .rounds = 24},
            n % 3 ? 0 : n % 9, n);
        assert_int_equal(moved > 0, n % 4 > 0); /* they do exchange, and only if they should */
    }
}

/* Nobody whose ancestors are of another island is a parent where nothing migrates. */
static void
islands_are_apart(void **state)
{
    struct drive *drive = drive_open(&(struct search_rule){.topology = SEARCH_ISLANDS,
                                                           .select = SEARCH_SELECT_RANK,
                                                           .width = 4,
                                                           .children = 2,
                                                           .rounds = 40,
                                                           .cross = 0.5},
                                     3);
    unsigned home[400];
    unsigned parents = 0;
    size_t count;
    (void)state;
    while (drive_ask(drive, 5, &count))
        for (size_t i = 0; i < count; i++) {
            const struct search_step *step = &drive->steps[drive->count];
            for (size_t p = 0; p < step->parent_count; p++, parents++)
                assert_int_equal(home[step->parents[p]], step->lane);
            home[drive->next] = step->lane;
            drive_tell(drive, drive_outcome(3, drive->count, 4, 10), 0);
        }
    assert_true(parents > 200);
    drive_close(drive);
}

/* A share of the steps goes on from the two best of all islands. */
static void
the_pool_is_of_all_islands(void **state)
{
    struct drive *drive = drive_open(&(struct search_rule){.topology = SEARCH_ISLANDS,
                                                           .select = SEARCH_SELECT_RANK,
                                                           .width = 4,
                                                           .children = 250,
                                                           .rounds = 1,
                                                           .elite = 2,
                                                           .pool = 0.5},
                                     3);
    double abroad = 0, tries = 0;
    size_t count;
    (void)state;
    for (int i = 0; i < 8; i++)
        drive_seed(drive,
                   10 + i); /* island i has i and i + 4; the best two are at home on 0 and 1 */
    assert_non_null(drive_ask(drive, 1000, &count));
    for (size_t i = 0; i < count; i++) {
        int parent = drive->steps[i].parents[0];
        if (drive->steps[i].lane < 2)
            continue;
        tries++;
        abroad += parent < 2;
        assert_true(parent < 2 || (unsigned)parent % 4 == drive->steps[i].lane);
    }
    assert_rate(abroad, tries, 0.5);
    drive_close(drive);
}

/* ---- elites ---- */

static void
elites_keep_one_a_cell(void **state)
{
    (void)state;
    for (unsigned seeds = 0; seeds < 4; seeds += 3) {
        struct drive *drive = drive_open(&(struct search_rule){.topology = SEARCH_ELITES,
                                                               .select = SEARCH_SELECT_MIX,
                                                               .children = 3,
                                                               .rounds = 100,
                                                               .population = 4},
                                         2);
        int map[10], best[20];
        size_t count, cells = 0, replaced = 0;
        memset(map, -1, sizeof map);
        for (unsigned i = 0; i < seeds; i++) { /* all in cell 0: only the cheapest stays */
            drive_seed(drive, 9 + i);
            map[0] = 0;
            cells = 1;
        }
        while (drive_ask(drive, 3, &count))
            for (size_t i = 0; i < count; i++) {
                const struct search_step *step = &drive->steps[drive->count];
                bool known = seeds > 0 || drive->count >= 4;
                assert_int_equal(step->parent_count, known && cells > 0);
                bool member = step->parent_count == 0;
                for (int c = 0; c < 10; c++)
                    member |= map[c] == step->parents[0];
                if (i == 0) /* the map is that of the beginning of the round */
                    assert_true(member);
                unsigned cell = (unsigned)(drive_draw(11, drive->count) * 10);
                double cost = drive_outcome(12, drive->count, 3, 10);
                int number = drive_tell(drive, cost, cell);
                if (isinf(cost))
                    continue;
                cells += map[cell] < 0;
                if (map[cell] < 0 || cost < drive->costs[map[cell]]) {
                    replaced += map[cell] >= 0;
                    map[cell] = number;
                }
                assert_int_equal(search_walk_best(drive->walk, best, 20), cells);
                for (size_t b = 0; b < cells; b++) {
                    bool held = false;
                    for (int c = 0; c < 10; c++)
                        held |= map[c] == best[b];
                    assert_true(held);
                }
            }
        assert_true(cells == 10 && replaced > 10);
        drive_close(drive);
    }
}

/* An equal one does not take the place. */
static void
elites_stay_against_equals(void **state)
{
    struct drive *drive =
        drive_open(&(struct search_rule){.topology = SEARCH_ELITES, .rounds = 3}, 2);
    size_t count;
    int best[4];
    (void)state;
    for (int i = 0; i < 3; i++) {
        drive_ask(drive, 1, &count);
        drive_tell(drive, i < 2 ? 5 : 6, 1);
    }
    assert_int_equal(search_walk_best(drive->walk, best, 4), 1);
    assert_int_equal(best[0], 0);
    drive_close(drive);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evolution_as_defined),   cmocka_unit_test(islands_as_defined),
        cmocka_unit_test(islands_are_apart),      cmocka_unit_test(the_pool_is_of_all_islands),
        cmocka_unit_test(elites_keep_one_a_cell), cmocka_unit_test(elites_stay_against_equals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
