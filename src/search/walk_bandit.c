/* A bandit whose arms are pairs of a cluster of nodes and a way to change them. An arm is masked
 * where the cluster is empty, or where the node in its middle already uses what the arm aims at;
 * the arm with the highest bound is played, on a node with much left to use. */
#include "search/walk_int.h"

#define SATURATED 0.75 /* from this share on an arm has nothing left to gain */

struct arm {
    double gain; /* mean of the rewards; begins with one of a half, as if it had been played once */
    unsigned played, out;
};

struct bandit {
    struct arm *arms; /* cluster * ways + way */
    struct search__clusters clusters;
    unsigned played; /* by all */
    unsigned since;  /* steps since clusters were made */
    double (*points)[SEARCH__FEATURES];
    unsigned *labels;
    size_t room; /* of points and labels */
};

static void
bandit_open(struct search_walk *walk)
{
    struct bandit *bandit = arena_alloc(walk->arena, sizeof *bandit);
    size_t arms = (size_t)walk->rule.width * walk->rule.arms;
    walk->state = bandit;
    bandit->arms = arena_array(walk->arena, arms, sizeof *bandit->arms);
    for (size_t i = 0; i < arms; i++)
        bandit->arms[i] = (struct arm){.gain = 0.5, .played = 1};
    bandit->clusters.centers =
        arena_array(walk->arena, walk->rule.width, sizeof *bandit->clusters.centers);
}

/* ---- clusters ---- */

/* Before there are clusters all nodes are in the first. */
static void
assign(struct search_walk *walk, size_t node)
{
    struct bandit *bandit = walk->state;
    if (bandit->clusters.count > 0)
        walk->nodes[node].cluster =
            (unsigned)search__nearest(&bandit->clusters, walk->nodes[node].node.where);
}

static void
make_clusters(struct search_walk *walk)
{
    struct bandit *bandit = walk->state;
    size_t count = 0;
    if (bandit->room < walk->node_room) {
        bandit->room = walk->node_room;
        bandit->points = arena_array(walk->arena, bandit->room, sizeof *bandit->points);
        bandit->labels = arena_array(walk->arena, bandit->room, sizeof *bandit->labels);
    }
    for (size_t i = 0; i < walk->node_count; i++)
        if (search__right(walk->nodes[i].node.cost)) {
            for (size_t f = 0; f < SEARCH__FEATURES; f++)
                bandit->points[count][f] = walk->nodes[i].node.where[f];
            count++;
        }
    search__cluster(&bandit->clusters, &walk->rng, bandit->points, bandit->labels, walk->weights,
                    count, walk->rule.width);
    for (size_t i = 0; i < walk->node_count; i++)
        assign(walk, i);
    bandit->since = 0;
}

/* For the first time as soon as there are enough for it. */
static void
bandit_close(struct search_walk *walk)
{
    struct bandit *bandit = walk->state;
    walk->set.count = 0;
    search__add_right(walk, &walk->set);
    if (walk->set.count >= 2 * (size_t)walk->rule.width &&
        (bandit->clusters.count == 0 || bandit->since >= walk->rule.recluster))
        make_clusters(walk);
}

static void
gather(const struct search_walk *walk, size_t cluster, struct search__set *set)
{
    set->count = 0;
    for (size_t i = 0; i < walk->node_count; i++)
        if (walk->nodes[i].cluster == cluster && search__right(walk->nodes[i].node.cost))
            search__add(walk, set, i);
}

/* The one nearest to the middle; where there is no middle yet the cheapest. */
static size_t
representative(struct search_walk *walk, size_t cluster)
{
    const struct bandit *bandit = walk->state;
    double nearest = INFINITY;
    gather(walk, cluster, &walk->set);
    if (walk->set.count == 0)
        return SEARCH__START;
    search__sort(&walk->set);
    size_t chosen = walk->set.items[0].node;
    for (size_t i = 0; bandit->clusters.count > 0 && i < walk->set.count; i++) {
        size_t node = walk->set.items[i].node;
        double distance =
            search__distance(&bandit->clusters, walk->nodes[node].node.where, cluster);
        if (distance < nearest) {
            nearest = distance;
            chosen = node;
        }
    }
    return chosen;
}

/* ---- arms ---- */

static double
bound_of(const struct search_walk *walk, const struct arm *arm, unsigned played)
{
    double c = walk->rule.select == SEARCH_SELECT_UCB ? walk->rule.number : SEARCH__BANDIT_C;
    return arm->gain + c * sqrt(log(played > 0 ? played : 1) / (arm->played + arm->out));
}

/* The arm with the highest bound, of equals the first; -1 where all are masked. `all`: only those
 * of empty clusters are. */
static int
highest_arm(struct search_walk *walk, bool all)
{
    const struct bandit *bandit = walk->state;
    double highest = -INFINITY;
    int chosen = -1;
    unsigned out = 0;
    for (size_t i = 0; i < (size_t)walk->rule.width * walk->rule.arms; i++)
        out += bandit->arms[i].out;
    for (unsigned cluster = 0; cluster < walk->rule.width; cluster++) {
        size_t middle = representative(walk, cluster);
        for (unsigned way = 0; middle != SEARCH__START && way < walk->rule.arms; way++) {
            unsigned i = cluster * walk->rule.arms + way;
            double bound = bound_of(walk, &bandit->arms[i], bandit->played + out);
            if ((all || !(walk->nodes[middle].node.used[way] >= SATURATED)) && bound > highest) {
                highest = bound;
                chosen = (int)i;
            }
        }
    }
    return chosen;
}

/* ---- a node for it ---- */

/* With a chance that grows with what is left of that which the arm aims at. */
static size_t
draw_by_room(struct search_walk *walk, unsigned way)
{
    double heat =
        walk->rule.select == SEARCH_SELECT_SOFTMAX ? walk->rule.number : SEARCH__BANDIT_HEAT;
    search__sort(&walk->set);
    for (size_t i = 0; i < walk->set.count; i++) {
        double used = walk->nodes[walk->set.items[i].node].node.used[way];
        used = isfinite(used) ? fmin(fmax(used, 0), 1) : 0;
        walk->weights[i] = exp(-used / heat);
    }
    return search__draw(&walk->rng, walk->weights, walk->set.count);
}

static size_t
choose_node(struct search_walk *walk, unsigned way)
{
    enum search_select select = walk->rule.select;
    bool by_room = select == SEARCH_SELECT_UCB || select == SEARCH_SELECT_SOFTMAX;
    return by_room ? draw_by_room(walk, way) : search__pick(walk, &walk->set);
}

/* ---- a round ---- */

static void
bandit_step(struct search_walk *walk)
{
    struct bandit *bandit = walk->state;
    int arm = highest_arm(walk, false);
    size_t first = SEARCH__START;
    if (arm < 0)
        arm = highest_arm(walk, true);
    unsigned cluster = arm < 0 ? 0 : (unsigned)arm / walk->rule.arms;
    walk->set.count = 0;
    if (arm >= 0) {
        gather(walk, cluster, &walk->set);
        first = walk->set.items[choose_node(walk, (unsigned)arm % walk->rule.arms)].node;
        bandit->arms[arm].out++;
    }
    struct search_step *step = search__step(walk, cluster, first, &walk->set);
    step->arm = arm < 0 ? -1 : arm % (int)walk->rule.arms;
    walk->set.count = 0;
    search__add_right(walk, &walk->set);
    search__inspire(walk, step, &walk->set);
}

static void
bandit_round(struct search_walk *walk)
{
    for (unsigned i = 0; i < walk->rule.children; i++)
        bandit_step(walk);
}

/* The share of the parent's time that was saved. */
static double
reward_of(struct search_walk *walk, const struct search_step *told, double cost)
{
    if (told->parent_count == 0 || !search__right(cost))
        return 0;
    double parent = search__at(walk, search__find(walk, told->parents[0]))->node.cost;
    return search__right(parent) && parent > 0 ? fmax(0, (parent - cost) / parent) : 0;
}

static void
bandit_told(struct search_walk *walk, const struct search_step *asked,
            const struct search_step *told, size_t node, double cost)
{
    struct bandit *bandit = walk->state;
    bandit->since++;
    if (node != SEARCH__START)
        assign(walk, node);
    if (asked->arm < 0)
        return;
    struct arm *arm = &bandit->arms[asked->lane * walk->rule.arms + (unsigned)asked->arm];
    arm->out--;
    arm->played++;
    arm->gain += (reward_of(walk, told, cost) - arm->gain) / arm->played;
    bandit->played++;
}

const struct search__way search__bandit = {
    .open = bandit_open, .round = bandit_round, .told = bandit_told, .close = bandit_close};
