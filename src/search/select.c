/* The rules by which a topology chooses. Each sees a set that is sorted, the cheapest first, so
 * that a place in it is a rank. doc/search.md has the formulas. */
#include "search/walk_int.h"

#include <stdlib.h>

size_t
search__draw(struct rng *rng, const double *weights, size_t count)
{
    double total = 0;
    for (size_t i = 0; i < count; i++)
        total += weights[i];
    if (!(total > 0))
        return rng_below(rng, count);
    double left = rng_uniform(rng) * total;
    size_t chosen = 0;
    for (size_t i = 0; i < count; i++) {
        if (weights[i] <= 0)
            continue;
        chosen = i; /* the last one, where rounding leaves a rest */
        left -= weights[i];
        if (left < 0)
            break;
    }
    return chosen;
}

/* ---- what the rules are made of ---- */

/* Steps that went on from it, those that are out included. */
static double
tries(struct search_walk *walk, const struct search__item *item)
{
    const struct search__node *node = search__at(walk, item->node);
    return (double)node->children + node->asked;
}

/* 1 for the fastest, 0.5 for half as fast, 0 for what has no cost. */
static double
speed(const struct search__set *set, size_t i)
{
    double cost = set->items[i].cost;
    return cost > 0 ? set->items[0].cost / cost : 1;
}

static size_t
draw_by(struct search_walk *walk, const struct search__set *set,
        double (*weight)(struct search_walk *walk, const struct search__set *set, size_t i))
{
    for (size_t i = 0; i < set->count; i++)
        walk->weights[i] = set->items[i].bias * weight(walk, set, i);
    return search__draw(&walk->rng, walk->weights, set->count);
}

static double
weight_alike(struct search_walk *walk, const struct search__set *set, size_t i)
{
    (void)walk, (void)set, (void)i;
    return 1;
}

static double
weight_rank(struct search_walk *walk, const struct search__set *set, size_t i)
{
    (void)walk;
    return 1 / ((double)i + 1 + (double)set->count);
}

static double
weight_softmax(struct search_walk *walk, const struct search__set *set, size_t i)
{
    return search__right(set->items[0].cost) ? exp((speed(set, i) - 1) / walk->rule.number) : 1;
}

static double
weight_speed(struct search_walk *walk, const struct search__set *set, size_t i)
{
    (void)walk;
    return search__right(set->items[0].cost) ? speed(set, i) : 1;
}

static double
weight_novelty(struct search_walk *walk, const struct search__set *set, size_t i)
{
    return 1 / (1 + tries(walk, &set->items[i]));
}

/* ---- the rules ---- */

/* Seeds are older than all others; of them the cheapest is taken, which is the first. */
static size_t
pick_last(struct search_walk *walk, const struct search__set *set)
{
    size_t newest = 0, node = 0;
    for (size_t i = 0; i < set->count; i++) {
        size_t at = set->items[i].node;
        if (at != SEARCH__START && at >= walk->seed_count && at >= node) {
            newest = i;
            node = at;
        }
    }
    return newest;
}

static size_t
pick_best(struct search_walk *walk, const struct search__set *set)
{
    (void)walk, (void)set;
    return 0;
}

static size_t
pick_rank(struct search_walk *walk, const struct search__set *set)
{
    return draw_by(walk, set, weight_rank);
}

/* So many different ones meet, and the cheapest wins. */
static size_t
pick_tournament(struct search_walk *walk, const struct search__set *set)
{
    size_t winner = set->count - 1;
    if (walk->rule.number >= (double)set->count)
        return 0;
    for (size_t i = 0; i < set->count; i++)
        walk->weights[i] = set->items[i].bias;
    for (double met = 0; met < walk->rule.number; met++) {
        size_t one = search__draw(&walk->rng, walk->weights, set->count);
        walk->weights[one] = 0;
        winner = one < winner ? one : winner;
    }
    return winner;
}

static int
by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double
median(const double *sorted, size_t count)
{
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

/* Sigmoid of how many typical deviations it is cheaper than the median; less for each child. Where
 * most costs are equal the deviation is 0: a millionth of the cost stands for it. */
static size_t
pick_weighted(struct search_walk *walk, const struct search__set *set)
{
    size_t right = 0;
    double *values = walk->weights;
    while (right < set->count && search__right(set->items[right].cost)) {
        values[right] = set->items[right].cost;
        right++;
    }
    if (right == 0)
        return draw_by(walk, set, weight_novelty);
    double middle = median(values, right);
    for (size_t i = 0; i < right; i++)
        values[i] = fabs(set->items[i].cost - middle);
    qsort(values, right, sizeof *values, by_value);
    double spread = fmax(median(values, right), 1e-6 * fabs(middle));
    for (size_t i = 0; i < set->count; i++) {
        const struct search__item *item = &set->items[i];
        double ahead = spread > 0 ? (middle - item->cost) / spread : 0;
        values[i] =
            i < right ? item->bias / (1 + exp(-walk->rule.number * ahead)) / (1 + tries(walk, item))
                      : 0;
    }
    return search__draw(&walk->rng, values, set->count);
}

/* Of equals the cheaper. */
static size_t
pick_ucb(struct search_walk *walk, const struct search__set *set)
{
    double total = 0, highest = -INFINITY;
    size_t chosen = 0;
    for (size_t i = 0; i < set->count; i++)
        total += tries(walk, &set->items[i]);
    for (size_t i = 0; i < set->count; i++) {
        double last = (double)set->count - 1;
        double share = last > 0 ? (last - (double)i) / last : 1;
        double bound =
            share + walk->rule.number * sqrt(log(total + 1) / (tries(walk, &set->items[i]) + 1));
        if (bound > highest) {
            highest = bound;
            chosen = i;
        }
    }
    return chosen;
}

static size_t
pick_epsilon(struct search_walk *walk, const struct search__set *set)
{
    return rng_uniform(&walk->rng) < walk->rule.number ? draw_by(walk, set, weight_alike) : 0;
}

static size_t
pick_softmax(struct search_walk *walk, const struct search__set *set)
{
    return draw_by(walk, set, weight_softmax);
}

static size_t
pick_mix(struct search_walk *walk, const struct search__set *set)
{
    double which = rng_uniform(&walk->rng);
    return draw_by(walk, set,
                   which < 0.3   ? weight_alike
                   : which < 0.7 ? weight_speed
                                 : weight_novelty);
}

static const struct {
    size_t (*pick)(struct search_walk *walk, const struct search__set *set);
    double number; /* the usual one */
} rules[SEARCH_SELECT_COUNT] = {
    [SEARCH_SELECT_LAST] = {pick_last, 0},
    [SEARCH_SELECT_BEST] = {pick_best, 0},
    [SEARCH_SELECT_RANK] = {pick_rank, 0},
    [SEARCH_SELECT_TOURNAMENT] = {pick_tournament, 2},
    [SEARCH_SELECT_WEIGHTED] = {pick_weighted, 10},
    [SEARCH_SELECT_UCB] = {pick_ucb, 1.414},
    [SEARCH_SELECT_UCT] = {pick_ucb, 0.2828}, /* walk_tree.c has its own */
    [SEARCH_SELECT_EPSILON] = {pick_epsilon, 0.3},
    [SEARCH_SELECT_SOFTMAX] = {pick_softmax, 0.25},
    [SEARCH_SELECT_MIX] = {pick_mix, 0},
    [SEARCH_SELECT_MODEL] = {pick_best, 0},
};

/* A bandit has its numbers from another system: c of the arms, temperature of the room left. */
double
search__usual_number(const struct search_rule *rule)
{
    if (rule->number > 0 && isfinite(rule->number))
        return rule->number;
    if (rule->topology == SEARCH_BANDIT && rule->select == SEARCH_SELECT_UCB)
        return SEARCH__BANDIT_C;
    if (rule->topology == SEARCH_BANDIT && rule->select == SEARCH_SELECT_SOFTMAX)
        return SEARCH__BANDIT_HEAT;
    return rules[rule->select].number;
}

size_t
search__pick(struct search_walk *walk, struct search__set *set)
{
    search__sort(set);
    return rules[walk->rule.select].pick(walk, set);
}
