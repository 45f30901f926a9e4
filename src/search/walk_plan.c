/* Best-first: the most promising open plan is attempted until it stops making progress. Plans come
 * from the caller, at any time. */
#include "search/walk_int.h"

#define HARDEST 4 /* plans that are more difficult are not tried */

struct lanes {
    size_t plans[SEARCH_PLACES]; /* which one each works on; SEARCH__START: none */
};

/* ---- plans ---- */

static size_t
find_plan(const struct search_walk *walk, int number)
{
    size_t at = 0;
    while (at < walk->plan_count && walk->plans[at].plan.number != number)
        at++;
    return at;
}

/* A figure that nobody gave counts as nothing: it would have no place in an order. */
static double
known(double figure)
{
    return isnan(figure) ? 0 : figure;
}

void
search_walk_plan(struct search_walk *walk, const struct search_plan *plan)
{
    size_t at = find_plan(walk, plan->number);
    if (at == walk->plan_count) {
        if ((at & (at - 1)) == 0) /* room for the next power of two */
            walk->plans =
                arena_grow(walk->arena, walk->plans, at, at ? 2 * at : 1, sizeof *walk->plans);
        walk->plans[walk->plan_count++] =
            (struct search__plan){.best = SEARCH__START, .last = SEARCH__START};
    }
    walk->plans[at].plan = (struct search_plan){plan->number, plan->parent, known(plan->score),
                                                known(plan->difficulty), known(plan->rating)};
}

static bool
can_try(const struct search__plan *plan)
{
    return !plan->closed && !plan->held && plan->plan.difficulty <= HARDEST;
}

/* Higher score, then easier, then better rated, then the lower number. */
static bool
comes_before(const struct search_plan *a, const struct search_plan *b)
{
    if (a->score != b->score)
        return a->score > b->score;
    if (a->difficulty != b->difficulty)
        return a->difficulty < b->difficulty;
    if (a->rating != b->rating)
        return a->rating > b->rating;
    return a->number < b->number;
}

static size_t
most_promising(const struct search_walk *walk)
{
    size_t chosen = SEARCH__START;
    for (size_t i = 0; i < walk->plan_count; i++)
        if (can_try(&walk->plans[i]) &&
            (chosen == SEARCH__START ||
             comes_before(&walk->plans[i].plan, &walk->plans[chosen].plan)))
            chosen = i;
    return chosen;
}

/* ---- attempts ---- */

/* The first attempt goes on from the plan's node, a further one from the best that came of it, or
 * repairs the last. */
static size_t
base_of(const struct search_walk *walk, const struct search__plan *plan)
{
    if (plan->best != SEARCH__START)
        return plan->best;
    if (plan->last != SEARCH__START)
        return plan->last;
    size_t node = search__find(walk, plan->plan.parent);
    bool right = node != SEARCH__START && search__right(walk->nodes[node].node.cost);
    return right ? node : SEARCH__START;
}

static void
attempt(struct search_walk *walk, unsigned lane, const struct search__plan *plan)
{
    walk->set.count = walk->mates.count = 0; /* a plan is about one node: nothing is crossed */
    struct search_step *step = search__step(walk, lane, base_of(walk, plan), &walk->mates);
    step->plan = plan->plan.number;
    step->repeat = plan->told > 0;
    search__add_right(walk, &walk->set);
    search__inspire(walk, step, &walk->set);
}

static void
plans_open(struct search_walk *walk)
{
    struct lanes *lanes = arena_alloc(walk->arena, sizeof *lanes);
    walk->state = lanes;
    for (size_t i = 0; i < SEARCH_PLACES; i++)
        lanes->plans[i] = SEARCH__START;
}

/* A plan is given up after so many attempts without progress, or when it turned out too hard. */
static void
give_up(struct search_walk *walk, size_t *held)
{
    struct search__plan *plan = &walk->plans[*held];
    if (plan->idle < walk->rule.stale && plan->plan.difficulty <= HARDEST)
        return;
    plan->closed = true;
    plan->held = false;
    *held = SEARCH__START;
}

static void
plans_round(struct search_walk *walk)
{
    struct lanes *lanes = walk->state;
    for (unsigned lane = 0; lane < walk->rule.width; lane++)
        if (lanes->plans[lane] != SEARCH__START)
            give_up(walk, &lanes->plans[lane]);
    for (unsigned lane = 0; lane < walk->rule.width; lane++) {
        if (lanes->plans[lane] == SEARCH__START)
            lanes->plans[lane] = most_promising(walk);
        if (lanes->plans[lane] == SEARCH__START)
            continue;
        struct search__plan *plan = &walk->plans[lanes->plans[lane]];
        plan->held = true;
        for (unsigned i = 0; i < walk->rule.children; i++)
            attempt(walk, lane, plan);
    }
}

static void
plans_told(struct search_walk *walk, const struct search_step *asked,
           const struct search_step *told, size_t node, double cost)
{
    struct search__plan *plan = &walk->plans[find_plan(walk, asked->plan)];
    bool first = plan->best == SEARCH__START;
    (void)told;
    plan->told++;
    plan->idle++;
    if (node == SEARCH__START)
        return;
    plan->last = node;
    if (search__right(cost) && (first || cost < walk->nodes[plan->best].node.cost)) {
        plan->best = node;
        plan->idle = 0;
    }
}

const struct search__way search__best_first = {
    .open = plans_open, .round = plans_round, .told = plans_told};
