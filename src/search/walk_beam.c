/* A beam: so many places, each worked on in every round; then the best of those who stood on them
 * and of those who came go on. */
#include "search/walk_int.h"

struct beam {
    size_t members[SEARCH_PLACES]; /* nodes, all right */
    size_t count;
};

/* ---- who goes on ---- */

/* These choose one; for places the cheapest is what they mean. */
static bool
cheapest_first(const struct search_walk *walk)
{
    enum search_select select = walk->rule.select;
    return select == SEARCH_SELECT_LAST || select == SEARCH_SELECT_BEST ||
           select == SEARCH_SELECT_MODEL;
}

static bool
cell_taken(const struct search_walk *walk, const struct beam *beam, unsigned cell)
{
    for (size_t i = 0; i < beam->count; i++)
        if (walk->nodes[beam->members[i]].node.cell == cell)
            return true;
    return false;
}

static void
take(struct beam *beam, struct search__set *set, size_t at)
{
    beam->members[beam->count++] = set->items[at].node;
    search__drop(set, at);
}

/* The cheapest of each cell, as far as there are places. */
static void
take_apart(const struct search_walk *walk, struct beam *beam, struct search__set *set)
{
    for (size_t i = 0; i < set->count && beam->count < walk->rule.width;) {
        if (cell_taken(walk, beam, walk->nodes[set->items[i].node].node.cell))
            i++;
        else
            take(beam, set, i);
    }
}

static void
fill(struct search_walk *walk, struct search__set *set)
{
    struct beam *beam = walk->state;
    beam->count = 0;
    search__sort(set);
    if (walk->rule.apart)
        take_apart(walk, beam, set);
    while (beam->count < walk->rule.width && set->count > 0) {
        bool cheapest = cheapest_first(walk) || beam->count < walk->rule.elite;
        take(beam, set, cheapest ? 0 : search__pick(walk, set));
    }
}

static void
beam_open(struct search_walk *walk)
{
    walk->state = arena_alloc(walk->arena, sizeof(struct beam));
    walk->set.count = 0;
    search__add_right(walk, &walk->set);
    fill(walk, &walk->set);
}

static void
add_members(const struct search_walk *walk, struct search__set *set)
{
    const struct beam *beam = walk->state;
    for (size_t i = 0; i < beam->count; i++)
        search__add(walk, set, beam->members[i]);
}

static void
beam_close(struct search_walk *walk)
{
    walk->set.count = 0;
    add_members(walk, &walk->set);
    for (size_t i = walk->seed_count; i < walk->node_count; i++)
        if (walk->nodes[i].round == walk->round && search__right(walk->nodes[i].node.cost))
            search__add(walk, &walk->set, i);
    fill(walk, &walk->set);
}

/* ---- a round ---- */

/* All places are worked on: where there are fewer members, some have more than one. */
static void
place_step(struct search_walk *walk, unsigned place)
{
    const struct beam *beam = walk->state;
    size_t first = beam->count > 0 ? beam->members[place % beam->count] : SEARCH__START;
    walk->mates.count = walk->set.count = 0;
    add_members(walk, &walk->mates);
    struct search_step *step = search__step(walk, place, first, &walk->mates);
    search__add_right(walk, &walk->set);
    search__inspire(walk, step, &walk->set);
}

static void
beam_round(struct search_walk *walk)
{
    for (unsigned place = 0; place < walk->rule.width; place++)
        for (unsigned i = 0; i < walk->rule.children; i++)
            place_step(walk, place);
}

const struct search__way search__beam = {
    .open = beam_open, .round = beam_round, .close = beam_close, .members = add_members};
