/* A tree: any node that is open may be gone on from. Its roots are the seeds that are right;
 * without one the start is the root.
 *
 * 1. A root with `throttle` children is closed, and so is a node with `prune` children that all
 *    failed. If nobody is open everybody who is right is; if nobody is right it is the start.
 * 2. What failed is never gone on from, but by uct, where it is a node with no reward.
 * 3. Steps that are out count as children, and as visits with no reward, so that the steps of one
 *    round do not all crowd at the same node. */
#include "search/walk_int.h"

/* ---- who is open ---- */

static bool
is_root(const struct search_walk *walk, size_t node)
{
    return walk->right_seeds == 0 ? node == SEARCH__START : node < walk->right_seeds;
}

static bool
throttled(struct search_walk *walk, size_t node)
{
    const struct search__node *at = search__at(walk, node);
    return walk->rule.throttle > 0 && is_root(walk, node) &&
           at->children + at->asked >= walk->rule.throttle;
}

static bool
pruned(struct search_walk *walk, size_t node)
{
    const struct search__node *at = search__at(walk, node);
    return walk->rule.prune > 0 && at->children >= walk->rule.prune && at->failed == at->children;
}

static void
offer(struct search_walk *walk, size_t node, bool any)
{
    const struct search__node *at = search__at(walk, node);
    if (!any && (throttled(walk, node) || pruned(walk, node)))
        return;
    search__add(walk, &walk->set, node);
    if (at->children + at->asked == 0)
        walk->set.items[walk->set.count - 1].bias = walk->rule.leaf_bias;
}

static void
gather(struct search_walk *walk, bool any)
{
    walk->set.count = 0;
    if (walk->right_seeds == 0)
        offer(walk, SEARCH__START, any);
    for (size_t i = 0; i < walk->node_count; i++)
        if (search__right(walk->nodes[i].node.cost))
            offer(walk, i, any);
}

static size_t
choose_open(struct search_walk *walk)
{
    gather(walk, false);
    if (walk->set.count == 0)
        gather(walk, true);
    return walk->set.items[search__pick(walk, &walk->set)].node;
}

/* ---- uct ---- */

static double
mean(const struct search__node *node)
{
    return node->visits > 0 ? node->reward / node->visits : 0;
}

/* Below `at`: the child with the highest bound, and the best mean of all of them. `any`: of those
 * that are closed too. */
static size_t
best_child(struct search_walk *walk, size_t at, bool any, double *bound, double *best_mean)
{
    double visits = fmax(search__at(walk, at)->visits, 1);
    size_t chosen = SEARCH__START;
    *bound = -INFINITY;
    *best_mean = 0;
    for (size_t i = 0; i < walk->node_count; i++) {
        const struct search__node *child = &walk->nodes[i];
        if (child->parent != at || (!any && pruned(walk, i)))
            continue;
        double value = mean(child) + walk->rule.number * sqrt(log(visits) / child->visits);
        *best_mean = fmax(*best_mean, mean(child));
        if (value > *bound) {
            *bound = value;
            chosen = i;
        }
    }
    return chosen;
}

/* The bound of one more child. */
static double
wider(struct search_walk *walk, size_t at, double best_mean)
{
    const struct search__node *node = search__at(walk, at);
    double children = (double)node->children + node->asked;
    if (children == 0)
        return INFINITY;
    return best_mean + walk->rule.number * sqrt(log(fmax(node->visits, 1)) / (children * children));
}

/* Down from the start: a node is gone on from where one more child promises more than the best of
 * those that it has. */
static size_t
choose_down(struct search_walk *walk)
{
    size_t at = SEARCH__START;
    for (;;) {
        double bound, best_mean;
        bool above = at == SEARCH__START && walk->right_seeds > 0; /* the roots are below it */
        size_t child = best_child(walk, at, false, &bound, &best_mean);
        if (above && child == SEARCH__START)
            child = best_child(walk, at, true, &bound, &best_mean);
        if (child == SEARCH__START)
            return at;
        if (!above && !throttled(walk, at) && wider(walk, at, best_mean) > bound)
            return at;
        at = child;
    }
}

/* 0 for what failed; 0.4 to 1.6 for 0.1 to 10 times the speed of the first that was right. */
static double
reward_of(const struct search_walk *walk, double cost)
{
    const double *first = walk->state;
    if (!search__right(cost) || !(cost > 0))
        return 0;
    double speed = fmin(fmax(*first / cost, 0.1), 10);
    return 0.4 + 1.2 * (speed - 0.1) / 9.9;
}

/* On the way from a node up to the start. */
static void
visit(struct search_walk *walk, size_t node, double visits, double reward)
{
    for (;; node = walk->nodes[node].parent) {
        struct search__node *at = search__at(walk, node);
        at->visits += visits;
        at->reward += reward;
        if (node == SEARCH__START)
            return;
    }
}

/* ---- a round ---- */

static void
note_first(struct search_walk *walk, double cost)
{
    double *first = walk->state;
    if (search__right(cost) && cost > 0 && *first == 0)
        *first = cost;
}

static void
tree_open(struct search_walk *walk)
{
    walk->state = arena_alloc(walk->arena, sizeof(double));
    for (size_t i = 0; i < walk->seed_count; i++) {
        note_first(walk, walk->nodes[i].node.cost);
        visit(walk, i, 1, reward_of(walk, walk->nodes[i].node.cost));
    }
}

static void
tree_step(struct search_walk *walk, unsigned lane)
{
    bool down = walk->rule.select == SEARCH_SELECT_UCT;
    size_t first = down ? choose_down(walk) : choose_open(walk);
    walk->mates.count = walk->set.count = 0;
    search__add_right(walk, &walk->mates);
    struct search_step *step = search__step(walk, lane, first, &walk->mates);
    visit(walk, first, 1, 0);
    search__add_right(walk, &walk->set);
    search__inspire(walk, step, &walk->set);
}

static void
tree_round(struct search_walk *walk)
{
    for (unsigned lane = 0; lane < walk->rule.width; lane++)
        for (unsigned i = 0; i < walk->rule.children; i++)
            tree_step(walk, lane);
}

static size_t
first_parent(const struct search_walk *walk, const struct search_step *step)
{
    return step->parent_count > 0 ? search__find(walk, step->parents[0]) : SEARCH__START;
}

static void
tree_told(struct search_walk *walk, const struct search_step *asked, const struct search_step *told,
          size_t node, double cost)
{
    note_first(walk, cost);
    double reward = reward_of(walk, cost);
    visit(walk, first_parent(walk, asked), -1, 0);
    visit(walk, first_parent(walk, told), 1, reward);
    if (node != SEARCH__START) {
        walk->nodes[node].visits = 1;
        walk->nodes[node].reward = reward;
    }
}

const struct search__way search__tree = {.open = tree_open, .round = tree_round, .told = tree_told};
