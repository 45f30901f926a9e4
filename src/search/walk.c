/* The frame of all walks: nodes, rounds, what is asked and what is told. */
#include "search/walk_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const struct search__way *const ways[SEARCH_TOPOLOGY_COUNT] = {
    [SEARCH_LINEAR] = &search__line,           [SEARCH_SAMPLES] = &search__samples,
    [SEARCH_TRAJECTORIES] = &search__line,     [SEARCH_BEAM] = &search__beam,
    [SEARCH_EVOLUTION] = &search__islands,     [SEARCH_ISLANDS] = &search__islands,
    [SEARCH_ELITES] = &search__elites,         [SEARCH_TREE] = &search__tree,
    [SEARCH_BANDIT] = &search__bandit,         [SEARCH_RACE] = &search__race,
    [SEARCH_BEST_FIRST] = &search__best_first,
};

/* ---- the rule ---- */

static unsigned
number_or(unsigned value, unsigned usual, unsigned most)
{
    if (value == 0)
        return usual;
    return value < most ? value : most;
}

static double
share_or(double value, double usual)
{
    if (!(value > 0))
        return usual;
    return value < 1 ? value : 1;
}

/* One line, one population, one map, whatever the width. */
static bool
one_lane(enum search_topology topology)
{
    return topology == SEARCH_LINEAR || topology == SEARCH_EVOLUTION || topology == SEARCH_ELITES;
}

static void
fill_in(struct search_rule *rule)
{
    rule->number = search__usual_number(rule);
    rule->width = one_lane(rule->topology) ? 1 : number_or(rule->width, 1, SEARCH_PLACES);
    rule->children = number_or(rule->children, 1, SEARCH_PLACES);
    rule->population = number_or(rule->population, 5, SEARCH_PEOPLE);
    rule->rounds = number_or(rule->rounds, 10, UINT32_MAX);
    rule->elite = number_or(rule->elite, 1, SEARCH_PEOPLE);
    rule->cross = share_or(rule->cross, 0);
    rule->migrate_rate = share_or(rule->migrate_rate, 0.1);
    rule->pool = share_or(rule->pool, 0);
    rule->leaf_bias = rule->leaf_bias > 0 && isfinite(rule->leaf_bias) ? rule->leaf_bias : 1;
    rule->arms = number_or(rule->arms, 1, SEARCH_ARMS);
    rule->recluster = number_or(rule->recluster, 10, UINT32_MAX);
    rule->stale = number_or(rule->stale, 5, UINT32_MAX);
    rule->inspirations = number_or(rule->inspirations, 0, SEARCH_STEP_PARENTS);
}

/* ---- nodes ---- */

/* Room for one more node in the list and in what is as long as the list. */
static void
make_room(struct search_walk *walk)
{
    if (walk->node_count < walk->node_room)
        return;
    size_t room = walk->node_room ? 2 * walk->node_room : 32;
    walk->nodes = arena_grow(walk->arena, walk->nodes, walk->node_count, room, sizeof *walk->nodes);
    walk->set.items = arena_array(walk->arena, room + 1, sizeof *walk->set.items);
    walk->mates.items = arena_array(walk->arena, room + 1, sizeof *walk->mates.items);
    walk->weights = arena_array(walk->arena, room + 1, sizeof *walk->weights);
    walk->node_room = room;
}

struct search__node *
search__at(struct search_walk *walk, size_t node)
{
    assert(node == SEARCH__START || node < walk->node_count);
    return node == SEARCH__START ? &walk->start : &walk->nodes[node];
}

size_t
search__find(const struct search_walk *walk, int number)
{
    for (size_t i = walk->node_count; i-- > 0;) /* recent ones are asked for most */
        if (walk->nodes[i].node.number == number)
            return i;
    return SEARCH__START;
}

static struct search__node *
remember(struct search_walk *walk, const struct search_node *node)
{
    make_room(walk);
    struct search__node *known = &walk->nodes[walk->node_count++];
    *known = (struct search__node){.node = *node, .parent = SEARCH__START};
    if (!search__right(known->node.cost))
        known->node.cost = INFINITY;
    walk->best = fmin(walk->best, known->node.cost);
    return known;
}

/* ---- sets ---- */

void
search__add(const struct search_walk *walk, struct search__set *set, size_t node)
{
    double cost = node == SEARCH__START ? INFINITY : walk->nodes[node].node.cost;
    set->items[set->count++] = (struct search__item){.node = node, .cost = cost, .bias = 1};
}

void
search__add_right(const struct search_walk *walk, struct search__set *set)
{
    for (size_t i = 0; i < walk->node_count; i++)
        if (search__right(walk->nodes[i].node.cost))
            search__add(walk, set, i);
}

static size_t
place_of(const struct search__set *set, size_t node)
{
    size_t at = 0;
    while (at < set->count && set->items[at].node != node)
        at++;
    return at;
}

bool
search__has(const struct search__set *set, size_t node)
{
    return place_of(set, node) < set->count;
}

void
search__drop(struct search__set *set, size_t at)
{
    set->count--;
    memmove(&set->items[at], &set->items[at + 1], (set->count - at) * sizeof *set->items);
}

static int
by_cost(const void *left, const void *right)
{
    const struct search__item *a = left, *b = right;
    if (a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

void
search__sort(struct search__set *set)
{
    if (set->count > 1)
        qsort(set->items, set->count, sizeof *set->items, by_cost);
}

/* ---- opening ---- */

struct search_walk *
search_walk_open(struct arena *arena, const struct search_rule *rule, uint64_t seed)
{
    struct search_walk *walk = arena_alloc(arena, sizeof *walk);
    assert((unsigned)rule->topology < SEARCH_TOPOLOGY_COUNT);
    assert((unsigned)rule->select < SEARCH_SELECT_COUNT);
    walk->arena = arena;
    walk->rule = *rule;
    walk->way = ways[rule->topology];
    walk->rng = rng_stream(seed, "walk");
    walk->start.node.number = -1;
    walk->start.node.cost = INFINITY;
    walk->start.parent = SEARCH__START;
    walk->best = INFINITY;
    fill_in(&walk->rule);
    make_room(walk);
    return walk;
}

void
search_walk_seed(struct search_walk *walk, const struct search_node *node)
{
    assert(!walk->begun);
    if (node->number >= 0 && search__find(walk, node->number) == SEARCH__START)
        remember(walk, node)->seed = true;
}

static int
by_cost_and_number(const void *left, const void *right)
{
    const struct search_node *a = &((const struct search__node *)left)->node;
    const struct search_node *b = &((const struct search__node *)right)->node;
    if (a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Seeds are sorted, so that the order in which they were given is nothing to rely on. */
static void
begin(struct search_walk *walk)
{
    walk->begun = true;
    walk->seed_count = walk->node_count;
    if (walk->node_count > 1)
        qsort(walk->nodes, walk->node_count, sizeof *walk->nodes, by_cost_and_number);
    while (walk->right_seeds < walk->seed_count &&
           search__right(walk->nodes[walk->right_seeds].node.cost))
        walk->right_seeds++;
    walk->best_before = walk->best;
    if (walk->way->open)
        walk->way->open(walk);
}

/* ---- steps ---- */

static struct search_step *
push(struct search_walk *walk, unsigned lane)
{
    if (walk->step_count == walk->step_room) {
        walk->step_room = walk->step_room ? 2 * walk->step_room : 16;
        walk->steps = arena_grow(walk->arena, walk->steps, walk->step_count, walk->step_room,
                                 sizeof *walk->steps);
    }
    struct search_step *step = &walk->steps[walk->step_count++];
    *step = (struct search_step){.round = walk->round, .lane = lane, .arm = -1, .plan = -1};
    return step;
}

static void
add_parent(struct search_walk *walk, struct search_step *step, size_t node,
           struct search__set *mates)
{
    size_t at = place_of(mates, node);
    if (at < mates->count)
        search__drop(mates, at);
    search__at(walk, node)->asked++;
    if (node != SEARCH__START)
        step->parents[step->parent_count++] = walk->nodes[node].node.number;
}

struct search_step *
search__step(struct search_walk *walk, unsigned lane, size_t first, struct search__set *mates)
{
    struct search_step *step = push(walk, lane);
    add_parent(walk, step, first, mates);
    if (first == SEARCH__START || walk->rule.cross == 0)
        return step;
    size_t start = place_of(mates, SEARCH__START); /* nothing to be crossed with */
    if (start < mates->count)
        search__drop(mates, start);
    if (mates->count > 0 && rng_uniform(&walk->rng) < walk->rule.cross)
        add_parent(walk, step, mates->items[search__pick(walk, mates)].node, mates);
    return step;
}

static bool
is_parent(const struct search_step *step, int number)
{
    for (size_t i = 0; i < step->parent_count; i++)
        if (step->parents[i] == number)
            return true;
    return false;
}

void
search__inspire(struct search_walk *walk, struct search_step *step, struct search__set *others)
{
    size_t wanted = walk->rule.inspirations;
    if (wanted == 0)
        return;
    for (size_t i = others->count; i-- > 0;)
        if (!search__right(others->items[i].cost) ||
            is_parent(step, walk->nodes[others->items[i].node].node.number))
            search__drop(others, i);
    search__sort(others);
    wanted = wanted < others->count ? wanted : others->count;
    for (size_t tier = 0; tier < wanted; tier++) {
        size_t from = tier * others->count / wanted, to = (tier + 1) * others->count / wanted;
        size_t at = from + (to - from > 1 ? rng_below(&walk->rng, to - from) : 0);
        step->inspirations[step->inspiration_count++] =
            walk->nodes[others->items[at].node].node.number;
    }
}

/* ---- asking ---- */

size_t
search_walk_ask(struct search_walk *walk, struct search_step *steps, size_t most)
{
    assert(walk->told == walk->handed); /* all that was asked for before was told */
    if (!walk->begun)
        begin(walk);
    if (walk->handed == walk->step_count && !walk->over && walk->round < walk->rule.rounds) {
        walk->handed = walk->told = walk->step_count = 0;
        walk->way->round(walk);
    }
    size_t count = walk->step_count - walk->handed;
    count = count < most ? count : most;
    if (count > 0)
        memcpy(steps, walk->steps + walk->handed, count * sizeof *steps);
    walk->handed += count;
    return count;
}

/* ---- telling ---- */

/* What became of a step, for those that it went on from; of a step from the start for the start. */
static void
count_child(struct search_walk *walk, const struct search_step *asked,
            const struct search_step *told, bool right)
{
    for (size_t i = 0; i < asked->parent_count; i++)
        search__at(walk, search__find(walk, asked->parents[i]))->asked--;
    for (size_t i = 0; i < told->parent_count; i++) {
        struct search__node *parent = search__at(walk, search__find(walk, told->parents[i]));
        parent->children++;
        parent->failed += !right;
    }
    walk->start.asked -= asked->parent_count == 0;
    walk->start.children += told->parent_count == 0;
    walk->start.failed += told->parent_count == 0 && !right;
}

/* The parents that were taken, as far as they are known. */
static struct search_step
parents_taken(const struct search_walk *walk, const struct search_step *asked,
              const struct search_step *step)
{
    struct search_step told = *asked;
    told.parent_count = 0;
    for (size_t i = 0; i < step->parent_count && i < SEARCH_STEP_PARENTS; i++)
        if (search__find(walk, step->parents[i]) != SEARCH__START)
            told.parents[told.parent_count++] = step->parents[i];
    return told;
}

static void
close_round(struct search_walk *walk)
{
    if (walk->way->close)
        walk->way->close(walk);
    walk->stale = walk->best < walk->best_before ? 0 : walk->stale + 1;
    walk->best_before = walk->best;
    walk->round++;
}

void
search_walk_tell(struct search_walk *walk, const struct search_step *step,
                 const struct search_node *node)
{
    assert(walk->told < walk->handed);
    const struct search_step asked = walk->steps[walk->told++];
    assert(step->round == asked.round && step->lane == asked.lane);
    const struct search_step told = parents_taken(walk, &asked, step);
    double cost = search__right(node->cost) && node->number >= 0 ? node->cost : INFINITY;
    size_t at = SEARCH__START;

    count_child(walk, &asked, &told, search__right(cost));
    if (node->number >= 0 && search__find(walk, node->number) == SEARCH__START) {
        struct search__node *known = remember(walk, node);
        known->round = asked.round;
        known->lane = asked.lane;
        if (told.parent_count > 0)
            known->parent = search__find(walk, told.parents[0]);
        at = walk->node_count - 1;
    }
    if (walk->way->told)
        walk->way->told(walk, &asked, &told, at, cost);
    if (walk->over)
        walk->step_count = walk->handed; /* what was not handed out is not done */
    if (walk->told == walk->step_count)
        close_round(walk);
}

/* ---- looking ---- */

unsigned
search_walk_stale(const struct search_walk *walk)
{
    return walk->stale;
}

size_t
search_walk_best(const struct search_walk *walk, int *numbers, size_t most)
{
    struct search__set set = {walk->set.items, 0};
    if (walk->begun && walk->way->members)
        walk->way->members(walk, &set);
    else
        search__add_right(walk, &set);
    search__sort(&set);
    size_t count = set.count < most ? set.count : most;
    for (size_t i = 0; i < count; i++)
        numbers[i] = walk->nodes[set.items[i].node].node.number;
    return count;
}
