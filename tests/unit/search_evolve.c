/* The evolution against its definition: what it asks first, whom it breeds, which gene it changes,
 * and that the same seed and costs give the same questions. */
#include "search/search.h"

#include "base/arena.h"
#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { GENES = 12 };

/* Twelve genes of two to seven values, scattered. */
static void
fill_holes(struct search_hole holes[GENES])
{
    for (unsigned i = 0; i < GENES; i++)
        holes[i] = (struct search_hole){(uint16_t)(i * 83 + 3), 2 + i % 6, 0};
}

/* Each gene has one best value; every other costs more. */
static double
cost_of(const struct search_point *point, const struct search_hole *holes)
{
    double cost = 100;
    for (unsigned i = 0; i < GENES; i++)
        if (point->gene[holes[i].gene] % holes[i].values != (i * 5 + 1) % holes[i].values)
            cost *= 1.1;
    return cost;
}

static unsigned
differences(const struct search_point *a, const struct search_point *b)
{
    unsigned count = 0;
    for (int i = 0; i < SEARCH_GENES; i++)
        count += a->gene[i] != b->gene[i];
    return count;
}

static struct search *
open_search(struct arena *arena, uint64_t seed)
{
    return search_open(arena, &(struct search_options){.seed = seed});
}

static void
the_usual_point_comes_first(void **state)
{
    struct arena *arena = arena_create();
    struct search *search = open_search(arena, 1);
    struct search_point point, zero = {{0}}, seed = {{7, 1}};
    (void)state;
    search_seed(search, &seed);
    search_ask(search, &point);
    assert_memory_equal(&point, &zero, sizeof point);
    search_ask(search, &point); /* then what served elsewhere */
    assert_memory_equal(&point, &seed, sizeof point);
    arena_destroy(arena);
}

/* Several may be out at once and are told in any order: a gene is rewarded for its own point. */
static void
points_may_be_out_together(void **state)
{
    struct arena *arena = arena_create();
    struct search_hole holes[GENES];
    struct search *search = open_search(arena, 3), *mirror = open_search(arena, 3);
    struct search_point p[2], q[2];
    (void)state;
    fill_holes(holes);
    assert_int_equal(search_ahead(search), 1); /* the usual one */
    search_seed(search, &(struct search_point){{1}});
    search_seed(mirror, &(struct search_point){{1}});
    assert_int_equal(search_ahead(search), 2);
    for (int i = 0; i < 100; i++) {
        for (int k = 0; k < 2; k++) {
            search_ask(search, &p[k]);
            search_ask(mirror, &q[k]);
            assert_memory_equal(&p[k], &q[k], sizeof p[k]);
        }
        if (memcmp(&p[0], &p[1], sizeof p[0]) == 0) { /* told as one */
            search_skip(search, holes, GENES);
            search_skip(mirror, holes, GENES);
        }
        for (int k = 0; k < 2; k++)
            search_tell(search, &p[k], holes, GENES, cost_of(&p[k], holes));
        for (int k = 0; k < 2; k++)
            search_tell(mirror, &q[k], holes, GENES, cost_of(&q[k], holes));
        assert_int_equal(search_ahead(search), 2);
        assert_int_equal(search_stale(search), search_stale(mirror));
    }
    assert_true(cost_of(&p[0], holes) < cost_of(&(struct search_point){{0}}, holes));
    arena_destroy(arena);
}

static void
the_same_costs_give_the_same_questions(void **state)
{
    struct arena *arena = arena_create();
    struct search_hole holes[GENES];
    struct search *a = open_search(arena, 5), *b = open_search(arena, 5);
    struct search *other = open_search(arena, 6);
    unsigned unequal = 0;
    (void)state;
    fill_holes(holes);
    for (int i = 0; i < 200; i++) {
        struct search_point p, q, r;
        search_ask(a, &p);
        search_ask(b, &q);
        search_ask(other, &r);
        assert_memory_equal(&p, &q, sizeof p);
        unequal += differences(&p, &r) > 0;
        double cost = i % 7 == 3 ? INFINITY : cost_of(&p, holes);
        search_tell(a, &p, holes, GENES, cost);
        search_tell(b, &q, holes, GENES, cost);
        search_tell(other, &r, holes, GENES, cost_of(&r, holes));
    }
    assert_true(unequal > 100);
    arena_destroy(arena);
}

static void
genes_stay_within_their_values(void **state)
{
    struct arena *arena = arena_create();
    struct search_hole holes[GENES];
    struct search *search = open_search(arena, 2);
    (void)state;
    fill_holes(holes);
    for (int i = 0; i < 300; i++) {
        struct search_point point;
        unsigned known = 0;
        search_ask(search, &point);
        for (unsigned h = 0; h < GENES; h++) {
            assert_true(point.gene[holes[h].gene] < holes[h].values);
            known += point.gene[holes[h].gene] != 0;
        }
        for (int g = 0; g < SEARCH_GENES; g++)
            known -= point.gene[g] != 0;
        assert_int_equal(known, 0); /* no other gene is ever set */
        search_tell(search, &point, holes, GENES, cost_of(&point, holes));
    }
    arena_destroy(arena);
}

/* Points are bred from the four best: changed in one or two genes, crossed, or fresh. */
static void
the_best_are_bred(void **state)
{
    struct arena *arena = arena_create();
    struct search_hole holes[GENES];
    struct search *search = open_search(arena, 3);
    struct search_point best[4], point;
    double costs[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    unsigned near = 0, all = 0;
    (void)state;
    fill_holes(holes);
    for (int i = 0; i < 400; i++) {
        search_ask(search, &point);
        if (i > 20) {
            unsigned nearest = SEARCH_GENES;
            for (int b = 0; b < 4; b++) {
                unsigned d = differences(&point, &best[b]);
                nearest = d < nearest ? d : nearest;
            }
            near += nearest <= 2;
            all++;
        }
        double cost = cost_of(&point, holes);
        search_tell(search, &point, holes, GENES, cost);
        for (int b = 0; b < 4; b++)
            if (cost < costs[b]) {
                memmove(costs + b + 1, costs + b, (size_t)(3 - b) * sizeof *costs);
                memmove(best + b + 1, best + b, (size_t)(3 - b) * sizeof *best);
                costs[b] = cost;
                best[b] = point;
                break;
            }
    }
    assert_true(near > all * 7 / 10);
    assert_true(near < all); /* some are fresh */
    arena_destroy(arena);
}

/* Evaluations until the best point of the test's costs is found. */
static unsigned
evaluations_needed(struct arena *arena, uint64_t seed, bool at_random)
{
    struct search_hole holes[GENES];
    struct search *search = open_search(arena, seed);
    struct rng rng = rng_stream(seed, "random");
    fill_holes(holes);
    for (unsigned i = 1; i <= 2000; i++) {
        struct search_point point = {{0}};
        if (at_random)
            for (unsigned h = 0; h < GENES; h++)
                point.gene[holes[h].gene] = (uint8_t)rng_below(&rng, holes[h].values);
        else
            search_ask(search, &point);
        double cost = cost_of(&point, holes);
        if (cost < 100 * 1.1 * 1.1 * 1.01) /* all but two genes right */
            return i;
        search_tell(search, &point, holes, GENES, cost);
    }
    return 2000;
}

/* What was never tried: the heaviest first, but for points drawn at random. */
static void
heavy_genes_come_first(void **state)
{
    unsigned changed = 0;
    (void)state;
    for (unsigned seed = 0; seed < 100; seed++) {
        struct arena *arena = arena_create();
        struct search *search = open_search(arena, seed);
        struct search_hole holes[GENES];
        struct search_point point;
        fill_holes(holes);
        for (unsigned i = 0; i < GENES; i++)
            holes[i].weight = i == seed % GENES ? 0.5 : 0.01;
        search_ask(search, &point);
        search_tell(search, &point, holes, GENES, 100);
        search_ask(search, &point);
        changed += point.gene[holes[seed % GENES].gene] != 0;
        arena_destroy(arena);
    }
    assert_true(changed > 75 && changed < 100);
}

static void
it_needs_fewer_than_chance(void **state)
{
    struct arena *arena = arena_create();
    double evolved = 0, random = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        evolved += evaluations_needed(arena, seed, false);
        random += evaluations_needed(arena, seed, true);
    }
    assert_true(evolved * 5 < random);
    assert_true(evolved / 20 < 120);
    arena_destroy(arena);
}

static void
progress_is_counted(void **state)
{
    struct arena *arena = arena_create();
    struct search_hole holes[GENES];
    struct search *search = open_search(arena, 4);
    struct search_point point;
    (void)state;
    fill_holes(holes);
    search_ask(search, &point);
    search_tell(search, &point, holes, GENES, 10);
    assert_int_equal(search_stale(search), 0);
    search_ask(search, &point);
    search_tell(search, &point, holes, GENES, 9.95); /* half a per cent is none */
    assert_int_equal(search_stale(search), 1);
    search_ask(search, &point);
    search_tell(search, &point, holes, GENES, INFINITY);
    assert_int_equal(search_stale(search), 2);
    search_ask(search, &point);
    search_tell(search, &point, holes, GENES, 9.8); /* but both together are */
    assert_int_equal(search_stale(search), 0);
    arena_destroy(arena);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_usual_point_comes_first),
        cmocka_unit_test(points_may_be_out_together),
        cmocka_unit_test(the_same_costs_give_the_same_questions),
        cmocka_unit_test(genes_stay_within_their_values),
        cmocka_unit_test(the_best_are_bred),
        cmocka_unit_test(heavy_genes_come_first),
        cmocka_unit_test(it_needs_fewer_than_chance),
        cmocka_unit_test(progress_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
