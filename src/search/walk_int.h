/* What the walks share. A walk is a list of nodes, a list of the steps of this round, and a way to
 * go on: one row of functions for each topology.
 *
 * All steps of a round are made when it begins, so that neither how many are handed out at once nor
 * the outcome of one of them can change another. */
#ifndef HONE_SEARCH_WALK_INT_H
#define HONE_SEARCH_WALK_INT_H

#include "base/rng.h"
#include "search/search.h"

#include <math.h>

#define SEARCH__BANDIT_C 2.0    /* of the bound of an arm */
#define SEARCH__BANDIT_HEAT 1.0 /* temperature at which nodes are drawn by what is left to use */
#define SEARCH__START SIZE_MAX  /* a node's index: the start, before any node */

struct search__node {
    struct search_node node;
    size_t parent; /* the first one; SEARCH__START */
    unsigned round, lane;
    bool seed;
    unsigned children, failed; /* steps that went on from it and were told; those that failed */
    unsigned asked;            /* steps that are out */
    bool sent;                 /* of islands: it has migrated */
    unsigned cluster;          /* of a bandit */
    double visits, reward;     /* of a tree: it and all below */
};

/* Nodes to choose from. `bias`: how many times likelier than others. */
struct search__item {
    size_t node;
    double cost, bias;
};

struct search__set {
    struct search__item *items; /* room for every node and the start */
    size_t count;
};

struct search__plan {
    struct search_plan plan;
    bool closed, held;   /* held: a lane works on it */
    unsigned told, idle; /* attempts; those since the last progress */
    size_t best, last;   /* nodes; SEARCH__START: none */
};

/* How a topology goes on. All but `round` may be NULL. */
struct search__way {
    /* Before the first round; the seeds are known. NULL: there is nothing to prepare. */
    void (*open)(struct search_walk *walk);
    /* Makes the steps of a round; none: it is at its end. */
    void (*round)(struct search_walk *walk);
    /* A step was told. `asked` is as it was handed out, `told` has the parents that were taken;
     * `node` is SEARCH__START if there is none. NULL: nothing to learn. */
    void (*told)(struct search_walk *walk, const struct search_step *asked,
                 const struct search_step *told, size_t node, double cost);
    /* All steps of the round were told. NULL: nothing to do. */
    void (*close)(struct search_walk *walk);
    /* Whom it would hand on. NULL: all that are right. */
    void (*members)(const struct search_walk *walk, struct search__set *set);
};

extern const struct search__way search__samples, search__line, search__race; /* walk_line.c */
extern const struct search__way search__beam;                                /* walk_beam.c */
extern const struct search__way search__islands, search__elites;             /* walk_population.c */
extern const struct search__way search__tree;                                /* walk_tree.c */
extern const struct search__way search__bandit;                              /* walk_bandit.c */
extern const struct search__way search__best_first;                          /* walk_plan.c */

struct search_walk {
    struct arena *arena;
    struct search_rule rule; /* with the defaults filled in */
    const struct search__way *way;
    void *state; /* of the way */
    struct rng rng;
    struct search__node start; /* what counts of a node counts of the start as well */
    struct search__node *nodes;
    size_t node_count, node_room;
    size_t seed_count, right_seeds; /* nodes 0..: those that are right first, the cheapest first */
    struct search__plan *plans;
    size_t plan_count;
    struct search_step *steps; /* of this round */
    size_t step_count, step_room, handed, told;
    unsigned round;
    bool begun, over;
    double best, best_before; /* costs: now, and when the round began */
    unsigned stale;
    struct search__set set, mates; /* scratch */
    double *weights;               /* scratch, as long as a set */
};

/* ---- nodes and sets: walk.c ---- */

struct search__node *
search__at(struct search_walk *walk, size_t node);

size_t
search__find(const struct search_walk *walk, int number); /* SEARCH__START: not known */

static inline bool
search__right(double cost)
{
    return isfinite(cost);
}

void
search__add(const struct search_walk *walk, struct search__set *set, size_t node);

bool
search__has(const struct search__set *set, size_t node);

void
search__drop(struct search__set *set, size_t at); /* keeps the order */

void
search__sort(struct search__set *set); /* the cheapest first, of equals the older */

/* All nodes that are right. */
void
search__add_right(const struct search_walk *walk, struct search__set *set);

/* ---- steps: walk.c ---- */

/* A step from `first` on, with a second parent out of `mates` as often as the rule says. `mates` is
 * left without the parents. */
struct search_step *
search__step(struct search_walk *walk, unsigned lane, size_t first, struct search__set *mates);

/* Others to look at: the set is cut into as many tiers by cost, and one drawn from each. */
void
search__inspire(struct search_walk *walk, struct search_step *step, struct search__set *others);

/* ---- choosing: select.c ---- */

double
search__usual_number(const struct search_rule *rule);

/* Sorts the set and picks by the rule. Returns a place in it; it must not be empty. */
size_t
search__pick(struct search_walk *walk, struct search__set *set);

/* With chances in proportion to the weights; all alike where none is above 0. */
size_t
search__draw(struct rng *rng, const double *weights, size_t count);

/* ---- clusters: cluster.c ---- */

enum { SEARCH__FEATURES = 4 };

struct search__clusters {
    size_t count;                                           /* 0: not made yet */
    double mean[SEARCH__FEATURES], scale[SEARCH__FEATURES]; /* points are made comparable */
    double (*centers)[SEARCH__FEATURES];                    /* room for as many as wanted */
};

/* k-means++ and Lloyd's steps. `points` are changed: made comparable. */
void
search__cluster(struct search__clusters *clusters, struct rng *rng,
                double (*points)[SEARCH__FEATURES], unsigned *labels, double *weights,
                size_t point_count, size_t wanted);

/* The square of the distance of a point from a center. */
double
search__distance(const struct search__clusters *clusters, const double *where, size_t center);

size_t
search__nearest(const struct search__clusters *clusters, const double *where);

#endif
