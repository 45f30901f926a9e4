/* The evolution against its definition (doc/optimize.md): what it asks first, whom it breeds, which
 * gene it changes, and that the same seed and costs give the same questions. */
#include "walk_unit.h"

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

/* ---- a second version: it keeps no sums, all follows from what was asked and told ---- */

enum { QUESTIONS = 512 };

struct question {
    struct search_point point;
    unsigned changed[2], change_count; /* holes */
    double parent;                     /* cost */
    double gain;                       /* of each change */
    bool out;
};

struct second {
    struct rng rng;
    struct question asked[QUESTIONS];
    size_t count;
    struct {
        struct search_point point;
        double cost;
    } told[QUESTIONS];
    size_t told_count;
    const struct search_hole *holes;
    unsigned known; /* holes */
};

/* The cheapest of those that come behind this one, of equals the older one; -1: there is none. */
static int
best_behind(const struct second *second, int one)
{
    int best = -1;
    for (int i = 0; i < (int)second->told_count; i++) {
        double cost = second->told[i].cost, limit = one < 0 ? -1 : second->told[one].cost;
        bool behind = cost > limit || (cost == limit && i > one);
        if (behind && isfinite(cost) && (best < 0 || cost < second->told[best].cost))
            best = i;
    }
    return best;
}

/* From 0 on. */
static int
nth_best(const struct second *second, uint64_t n)
{
    int best = best_behind(second, -1);
    for (; n > 0 && best >= 0; n--)
        best = best_behind(second, best);
    return best;
}

static unsigned
parents_of(const struct second *second)
{
    unsigned count = 0;
    while (count < 4 && nth_best(second, count) >= 0)
        count++;
    return count;
}

/* How often a hole's gene was changed, and what that gained in all. */
static double
tries_of(const struct second *second, unsigned hole, double *gains)
{
    double tries = 0;
    *gains = 0;
    for (size_t i = 0; i < second->count; i++)
        for (unsigned k = 0; k < second->asked[i].change_count; k++)
            if (second->asked[i].changed[k] == hole) {
                tries++;
                *gains += second->asked[i].gain;
            }
    return tries;
}

/* Mean gain + sqrt(ln t / n) / 2; what was never tried comes first, the heaviest before the others;
 * equals are told apart by one draw for each gene, in the order of their numbers. */
static unsigned
second_choice(struct second *second)
{
    double all = 1, gains, highest = -1;
    unsigned chosen = 0;
    for (unsigned h = 0; h < second->known; h++)
        all += tries_of(second, h, &gains);
    for (unsigned h = 0; h < second->known; h++) {
        double tries = tries_of(second, h, &gains), chance = rng_uniform(&second->rng);
        double bound = tries == 0 ? 1e6 + 1e3 * second->holes[h].weight + chance
                                  : gains / tries + 0.5 * sqrt(log(all) / tries) + 1e-6 * chance;
        if (bound > highest) {
            highest = bound;
            chosen = h;
        }
    }
    return chosen;
}

static void
second_change(struct second *second, struct question *next)
{
    if (second->known == 0)
        return;
    unsigned hole = second_choice(second), values = second->holes[hole].values;
    uint8_t *value = &next->point.gene[second->holes[hole].gene];
    *value = (uint8_t)((*value + 1 + rng_below(&second->rng, values - 1)) % values);
    next->changed[next->change_count++] = hole;
}

/* Until eight were told the very best is the parent, then the better of two of the best four. */
static void
second_child(struct second *second, struct question *next)
{
    unsigned parents = parents_of(second), from = second->told_count < 8 ? 1 : parents;
    uint64_t a = rng_below(&second->rng, from), b = rng_below(&second->rng, from);
    int parent = nth_best(second, a < b ? a : b);
    next->point = second->told[parent].point;
    next->parent = second->told[parent].cost;
    if (parents > 1 && rng_uniform(&second->rng) < 0.15) {
        int other = nth_best(second, rng_below(&second->rng, parents));
        for (int i = 0; i < SEARCH_GENES; i++)
            if (rng_next(&second->rng) & 1)
                next->point.gene[i] = second->told[other].point.gene[i];
        return;
    }
    second_change(second, next);
    if (rng_uniform(&second->rng) < 0.35)
        second_change(second, next);
}

static void
second_fresh(struct second *second, struct question *next, double share)
{
    for (unsigned h = 0; h < second->known; h++)
        if (rng_uniform(&second->rng) < share)
            next->point.gene[second->holes[h].gene] =
                (uint8_t)rng_below(&second->rng, second->holes[h].values);
}

static const struct search_point *
second_ask(struct second *second)
{
    struct question *next = &second->asked[second->count++];
    bool usual = second->count == 1, right = nth_best(second, 0) >= 0;
    unsigned out = 0;
    *next = (struct question){.parent = INFINITY, .out = true};
    if (!usual && (!right || rng_uniform(&second->rng) < 0.15))
        second_fresh(second, next, right ? 0.3 : 0.5);
    else if (!usual)
        second_child(second, next);
    for (size_t i = second->count; i-- > 0;) /* the oldest of more than so many is given up */
        if (second->asked[i].out && ++out > SEARCH_AHEAD)
            second->asked[i].out = false;
    return &next->point;
}

/* A change gains ten times the share of the time that it saves, and one at most. */
static void
second_tell(struct second *second, const struct search_point *point, unsigned known, double cost)
{
    size_t at = 0;
    second->known = known > second->known ? known : second->known;
    second->told[second->told_count].point = *point;
    second->told[second->told_count++].cost = cost;
    while (at < second->count &&
           (!second->asked[at].out || memcmp(&second->asked[at].point, point, sizeof *point) != 0))
        at++;
    if (at == second->count)
        return;
    struct question *asked = &second->asked[at];
    double saved = (asked->parent - cost) / asked->parent;
    asked->out = false;
    asked->gain = saved > 0 ? fmin(1, 10 * saved) : 0;
}

static void
second_skip(struct second *second, unsigned known)
{
    second->known = known > second->known ? known : second->known;
    for (size_t i = second->count; i-- > 0;)
        if (second->asked[i].out) {
            second->asked[i].out = false;
            return;
        }
}

/* One to three at a time, told in any order; some bring nothing, some fail, some teach nothing as
 * they are given up. Few holes are known at first. */
static void
every_question_is_the_defined_one(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct arena *arena = arena_create();
        struct second *second = arena_alloc(arena, sizeof *second);
        struct search *search = open_search(arena, seed);
        struct search_hole holes[GENES];
        struct rng rng = rng_stream(seed, "driver");
        fill_holes(holes);
        for (unsigned i = 0; i < GENES && seed % 2; i++)
            holes[i].weight = (double)(i % 4) / 4;
        second->rng = rng_stream(seed, "evolve");
        second->holes = holes;
        while (second->count < QUESTIONS - 12) {
            struct search_point points[12];
            unsigned known = second->count < 20 ? 5 : GENES;
            size_t many = rng_below(&rng, 20) == 0 ? 12 : 1 + rng_below(&rng, 3), told = many;
            for (size_t i = 0; i < many; i++) {
                search_ask(search, &points[i]);
                assert_memory_equal(&points[i], second_ask(second), sizeof points[i]);
            }
            if (rng_below(&rng, 8) == 0) {
                search_skip(search, holes, known);
                second_skip(second, known);
                told--;
            }
            for (size_t i = told; i-- > 0;) {
                double cost = rng_below(&rng, 6) == 0 ? INFINITY : cost_of(&points[i], holes);
                search_tell(search, &points[i], holes, known, cost);
                second_tell(second, &points[i], known, cost);
            }
        }
        arena_destroy(arena);
    }
}

/* ---- shares ---- */

enum { WIDE = 200, VALUES = 250, FAR = 100, DRAWS = 6000 };

/* Two points are right, which differ in all of many genes: what becomes of them shows whether a
 * question was bred, crossed or drawn. */
static struct search *
open_wide(struct arena *arena, struct search_point right[2])
{
    struct search *search = open_search(arena, 11);
    struct search_hole holes[WIDE];
    memset(right, 0, 2 * sizeof *right);
    for (unsigned i = 0; i < WIDE; i++) {
        holes[i] = (struct search_hole){(uint16_t)(i * 5), VALUES, 0};
        right[1].gene[i * 5] = FAR;
    }
    search_ask(search, &right[0]);
    for (int i = 0; i < 8; i++)
        search_tell(search, &right[i == 1], holes, WIDE, i < 2 ? 10 + i : INFINITY);
    return search;
}

/* 15 % are drawn, three genes of ten; of the others 15 % are crossed, half the genes from another
 * one, which may be the same; the rest are changed, 35 % of them in two genes. */
static void
shares_are_as_defined(void **state)
{
    struct arena *arena = arena_create();
    struct search_point right[2], point;
    struct search *search = open_wide(arena, right);
    double drawn = 0, drawn_genes = 0, crossed = 0, mixed = 0, other_genes = 0;
    double changed = 0, twice = 0, of_best = 0;
    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        search_ask(search, &point);
        unsigned a = differences(&point, &right[0]), b = differences(&point, &right[1]);
        unsigned near = a < b ? a : b;
        if (near == 0 || (a + b == WIDE && near > 2)) {
            crossed++;
            mixed += near > 0;
            other_genes += near > 0 ? a : 0;
        } else if (near <= 2) {
            changed++;
            twice += near == 2;
            of_best += a < b;
        } else {
            drawn++;
            drawn_genes += a;
        }
    }
    assert_rate(drawn, DRAWS, 0.15);
    assert_rate(drawn_genes, drawn * WIDE, 0.3 * (VALUES - 1) / VALUES);
    assert_rate(crossed, DRAWS - drawn, 0.15);
    assert_rate(mixed, crossed, 0.5);
    assert_rate(other_genes, mixed * WIDE, 0.5);
    assert_rate(twice, changed, 0.35);
    assert_rate(of_best, changed, 0.75); /* the better of two draws */
    arena_destroy(arena);
}

/* ---- what comes of it ---- */

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
        cmocka_unit_test(every_question_is_the_defined_one),
        cmocka_unit_test(shares_are_as_defined),
        cmocka_unit_test(it_needs_fewer_than_chance),
        cmocka_unit_test(progress_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
