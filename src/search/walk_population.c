/* Populations: evolution is one, islands are some that exchange, and a map of elites is one with a
 * place for each cell.
 *
 * 1. Only what is right is a member; nobody is twice in the same population.
 * 2. The `elite` cheapest members always stay. Of the others those of the last round come before
 *    older ones, the cheaper first, as far as there are places.
 * 3. Who migrates goes to both neighbours of its island, once in its life, and never to where it is
 *    already. Who is sent is decided for all islands before anyone arrives. */
#include "search/walk_int.h"

struct population {
    size_t *members; /* nodes; room for newcomers of both neighbours besides */
    size_t count;
    unsigned begun; /* steps from the start */
};

struct islands {
    struct population *all; /* as many as the rule's width */
    size_t *leaving;        /* nodes, those of island i from i * population on */
    size_t *leaving_count;
};

/* Without a seed that is right, a population begins with as many steps from the start. */
static bool
begins(const struct search_walk *walk, struct population *population)
{
    if (walk->right_seeds > 0 || population->begun >= walk->rule.population)
        return false;
    population->begun++;
    return true;
}

static void
add_all(const struct search_walk *walk, const struct population *population,
        struct search__set *set)
{
    for (size_t i = 0; i < population->count; i++)
        search__add(walk, set, population->members[i]);
}

/* ---- members of an island ---- */

static void
enter(struct population *population, size_t node, size_t most)
{
    if (population->count < most)
        population->members[population->count++] = node;
}

static void
settle(struct population *population, const struct search__set *set, size_t most)
{
    population->count = 0;
    for (size_t i = 0; i < set->count; i++)
        enter(population, set->items[i].node, most);
}

/* Island i gets every so manieth seed; where there are fewer seeds than islands some are shared. */
static void
islands_open(struct search_walk *walk)
{
    struct islands *islands = arena_alloc(walk->arena, sizeof *islands);
    size_t width = walk->rule.width, places = walk->rule.population;
    walk->state = islands;
    islands->all = arena_array(walk->arena, width, sizeof *islands->all);
    islands->leaving = arena_array(walk->arena, width * places, sizeof *islands->leaving);
    islands->leaving_count = arena_array(walk->arena, width, sizeof *islands->leaving_count);
    for (size_t i = 0; i < width; i++) {
        struct population *island = &islands->all[i];
        island->members = arena_array(walk->arena, 3 * places, sizeof *island->members);
        if (i >= walk->right_seeds && walk->right_seeds > 0)
            enter(island, i % walk->right_seeds, places);
        for (size_t s = i; s < walk->right_seeds; s += width)
            enter(island, s, places);
    }
}

static bool
is_new(const struct search_walk *walk, size_t node)
{
    return node >= walk->seed_count && walk->nodes[node].round == walk->round;
}

static void
renew(struct search_walk *walk, unsigned lane, struct population *island)
{
    struct search__set *set = &walk->set;
    set->count = 0;
    add_all(walk, island, set);
    for (size_t i = walk->seed_count; i < walk->node_count; i++)
        if (is_new(walk, i) && walk->nodes[i].lane == lane &&
            search__right(walk->nodes[i].node.cost))
            search__add(walk, set, i);
    search__sort(set);
    island->count = 0;
    for (size_t i = 0; i < set->count && i < walk->rule.elite; i++)
        enter(island, set->items[i].node, walk->rule.population);
    for (size_t i = walk->rule.elite; i < set->count; i++)
        if (is_new(walk, set->items[i].node))
            enter(island, set->items[i].node, walk->rule.population);
    for (size_t i = walk->rule.elite; i < set->count; i++)
        if (!is_new(walk, set->items[i].node))
            enter(island, set->items[i].node, walk->rule.population);
}

/* ---- migration ---- */

static void
choose_leaving(struct search_walk *walk, size_t from)
{
    struct islands *islands = walk->state;
    const struct population *island = &islands->all[from];
    size_t wanted = (size_t)ceil(walk->rule.migrate_rate * (double)island->count);
    size_t *leaving = islands->leaving + from * walk->rule.population, count = 0;
    walk->set.count = 0;
    add_all(walk, island, &walk->set);
    search__sort(&walk->set);
    for (size_t i = 0; i < walk->set.count && count < wanted; i++)
        if (!walk->nodes[walk->set.items[i].node].sent)
            leaving[count++] = walk->set.items[i].node;
    islands->leaving_count[from] = count;
}

static void
arrive(struct search_walk *walk, size_t from, size_t to)
{
    struct islands *islands = walk->state;
    const size_t *leaving = islands->leaving + from * walk->rule.population;
    walk->set.count = 0;
    add_all(walk, &islands->all[to], &walk->set);
    for (size_t i = 0; i < islands->leaving_count[from]; i++) {
        walk->nodes[leaving[i]].sent = true;
        if (!search__has(&walk->set, leaving[i]))
            search__add(walk, &walk->set, leaving[i]);
    }
    settle(&islands->all[to], &walk->set, 3 * (size_t)walk->rule.population);
}

static void
cut(struct search_walk *walk, struct population *island)
{
    walk->set.count = 0;
    add_all(walk, island, &walk->set);
    search__sort(&walk->set);
    settle(island, &walk->set, walk->rule.population);
}

static void
migrate(struct search_walk *walk)
{
    struct islands *islands = walk->state;
    size_t width = walk->rule.width;
    for (size_t i = 0; i < width; i++)
        choose_leaving(walk, i);
    for (size_t i = 0; i < width; i++) {
        arrive(walk, i, (i + 1) % width);
        if (width > 2)
            arrive(walk, i, (i + width - 1) % width);
    }
    for (size_t i = 0; i < width; i++)
        cut(walk, &islands->all[i]);
}

/* ---- a round ---- */

static void
islands_close(struct search_walk *walk)
{
    struct islands *islands = walk->state;
    unsigned every = walk->rule.migrate_every;
    for (unsigned i = 0; i < walk->rule.width; i++)
        renew(walk, i, &islands->all[i]);
    if (walk->rule.width > 1 && every > 0 && (walk->round + 1) % every == 0)
        migrate(walk);
}

/* The cheapest of all islands. */
static void
add_pool(const struct search_walk *walk, struct search__set *set)
{
    search__add_right(walk, set);
    search__sort(set);
    if (set->count > walk->rule.elite)
        set->count = walk->rule.elite;
}

static void
member_step(struct search_walk *walk, unsigned lane, struct population *population)
{
    struct search__set *set = &walk->set;
    size_t first = SEARCH__START;
    bool begin = begins(walk, population);
    set->count = 0;
    if (!begin && walk->rule.pool > 0 && walk->rule.topology == SEARCH_ISLANDS &&
        rng_uniform(&walk->rng) < walk->rule.pool)
        add_pool(walk, set);
    if (!begin && set->count == 0)
        add_all(walk, population, set);
    if (set->count > 0)
        first = set->items[search__pick(walk, set)].node;
    walk->mates.count = 0;
    add_all(walk, population, &walk->mates);
    struct search_step *step = search__step(walk, lane, first, &walk->mates);
    search__inspire(walk, step, &walk->mates);
}

static void
islands_round(struct search_walk *walk)
{
    struct islands *islands = walk->state;
    for (unsigned lane = 0; lane < walk->rule.width; lane++)
        for (unsigned i = 0; i < walk->rule.children; i++)
            member_step(walk, lane, &islands->all[lane]);
}

/* Who is on several islands is handed on once. */
static void
islands_members(const struct search_walk *walk, struct search__set *set)
{
    const struct islands *islands = walk->state;
    for (size_t i = 0; i < walk->rule.width; i++)
        for (size_t m = 0; m < islands->all[i].count; m++)
            if (!search__has(set, islands->all[i].members[m]))
                search__add(walk, set, islands->all[i].members[m]);
}

const struct search__way search__islands = {.open = islands_open,
                                            .round = islands_round,
                                            .close = islands_close,
                                            .members = islands_members};

/* ---- elites: one for each cell ---- */

struct map {
    struct population cells; /* the one in each */
    size_t room;
};

/* Into its cell, if that is empty or has a dearer one. */
static void
place(struct search_walk *walk, size_t node)
{
    struct map *map = walk->state;
    struct population *cells = &map->cells;
    const struct search_node *new = &walk->nodes[node].node;
    for (size_t i = 0; i < cells->count; i++) {
        const struct search_node *old = &walk->nodes[cells->members[i]].node;
        if (old->cell != new->cell)
            continue;
        if (new->cost < old->cost)
            cells->members[i] = node;
        return;
    }
    if (cells->count == map->room) {
        map->room = map->room ? 2 * map->room : 16;
        cells->members = arena_grow(walk->arena, cells->members, cells->count, map->room,
                                    sizeof *cells->members);
    }
    cells->members[cells->count++] = node;
}

static void
elites_open(struct search_walk *walk)
{
    walk->state = arena_alloc(walk->arena, sizeof(struct map));
    for (size_t i = 0; i < walk->right_seeds; i++)
        place(walk, i);
}

static void
elites_told(struct search_walk *walk, const struct search_step *asked,
            const struct search_step *told, size_t node, double cost)
{
    (void)asked, (void)told;
    if (node != SEARCH__START && search__right(cost))
        place(walk, node);
}

static void
elites_round(struct search_walk *walk)
{
    struct map *map = walk->state;
    for (unsigned i = 0; i < walk->rule.children; i++)
        member_step(walk, 0, &map->cells);
}

static void
elites_members(const struct search_walk *walk, struct search__set *set)
{
    const struct map *map = walk->state;
    add_all(walk, &map->cells, set);
}

const struct search__way search__elites = {
    .open = elites_open, .round = elites_round, .told = elites_told, .members = elites_members};
