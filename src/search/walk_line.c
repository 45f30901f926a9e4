/* Lines: linear is one of them, trajectories are some side by side, a race are some until one is
 * right. Each goes on from its own nodes only. Samples go on from nothing but the start. */
#include "search/walk_int.h"

/* The node that a line begins with. One that failed is begun with only where nothing else is there
 * and the line goes on from whatever came last. */
static size_t
seed_of(const struct search_walk *walk, size_t lane, bool any)
{
    size_t count = any && walk->right_seeds == 0 ? walk->seed_count : walk->right_seeds;
    return count > 0 ? lane % count : SEARCH__START;
}

static bool
own(const struct search_walk *walk, size_t node, unsigned lane)
{
    return node >= walk->seed_count && walk->nodes[node].lane == lane;
}

/* What the line did last, right or not: of several at once the cheapest. */
static size_t
last_of(const struct search_walk *walk, unsigned lane)
{
    size_t last = SEARCH__START;
    for (size_t i = walk->node_count; i-- > walk->seed_count;) {
        if (!own(walk, i, lane))
            continue;
        if (last != SEARCH__START && walk->nodes[i].round != walk->nodes[last].round)
            break;
        if (last == SEARCH__START || walk->nodes[i].node.cost < walk->nodes[last].node.cost)
            last = i;
    }
    return last == SEARCH__START ? seed_of(walk, lane, true) : last;
}

static void
gather(const struct search_walk *walk, unsigned lane, struct search__set *set)
{
    size_t seed = seed_of(walk, lane, false);
    set->count = 0;
    if (seed != SEARCH__START)
        search__add(walk, set, seed);
    for (size_t i = walk->seed_count; i < walk->node_count; i++)
        if (own(walk, i, lane) && search__right(walk->nodes[i].node.cost))
            search__add(walk, set, i);
}

static void
line_step(struct search_walk *walk, unsigned lane)
{
    bool last = walk->rule.select == SEARCH_SELECT_LAST || walk->rule.topology == SEARCH_RACE;
    struct search__set *set = &walk->set;
    size_t first = SEARCH__START;
    gather(walk, lane, set);
    if (last)
        first = last_of(walk, lane);
    else if (set->count > 0)
        first = set->items[search__pick(walk, set)].node;
    struct search_step *step = search__step(walk, lane, first, set);
    search__inspire(walk, step, set);
}

static void
line_round(struct search_walk *walk)
{
    for (unsigned lane = 0; lane < walk->rule.width; lane++)
        for (unsigned i = 0; i < walk->rule.children; i++)
            line_step(walk, lane);
}

const struct search__way search__line = {.round = line_round};

static void
race_told(struct search_walk *walk, const struct search_step *asked, const struct search_step *told,
          size_t node, double cost)
{
    (void)asked, (void)told, (void)node;
    walk->over |= search__right(cost);
}

const struct search__way search__race = {.round = line_round, .told = race_told};

/* Each seed in turn, so that several are all used. */
static void
samples_round(struct search_walk *walk)
{
    size_t number = (size_t)walk->round * walk->rule.width * walk->rule.children;
    for (unsigned lane = 0; lane < walk->rule.width; lane++)
        for (unsigned i = 0; i < walk->rule.children; i++) {
            walk->set.count = 0;
            search__step(walk, lane, seed_of(walk, number++, false), &walk->set);
        }
}

const struct search__way search__samples = {.round = samples_round};
