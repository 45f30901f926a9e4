/* search: what to try next. Strategies are asked for points and told what they cost; they know
 * nothing of kernels, clocks or files, so that the same seed and the same costs give the same
 * questions.
 *
 *   search_open      a strategy over points: which numbers to try
 *   search_ask       the next point
 *   search_tell      what it cost
 *   search_skip      it is the same as an earlier one, or no point at all
 *
 *   search_walk_open   a strategy over candidates: whom to work on next
 *   search_walk_ask    the steps of the next round
 *   search_walk_tell   what became of one of them
 *
 * A point is a string of genes. Who asks for a point finds out which genes matter for it and how
 * many values each may have (its holes), and tells them along with the cost.
 *
 * A walk goes over nodes: candidates that were judged, by the number that the caller gave them. It
 * never sees a text. A walk that is asked and told the same again takes the same steps again, which
 * is how a run is resumed and replayed: there is no state to be kept elsewhere.
 *
 * Ownership law: everything lives in the arena given.
 */
#ifndef HONE_SEARCH_SEARCH_H
#define HONE_SEARCH_SEARCH_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

#define SEARCH_GENES 1024

struct search_point {
    uint8_t gene[SEARCH_GENES]; /* 0: the usual value */
};

struct search_hole {
    uint16_t gene;
    unsigned values; /* at least 2 */
    double weight;   /* from 0 to 1: the heavier ones are tried first */
};

struct search_options {
    uint64_t seed;
    unsigned first;   /* points before the best are bred: the usual one and its neighbours; 0: 8 */
    unsigned parents; /* how many of the best are bred; 0: 4 */
    double fresh;     /* share of random points later on; 0: 0.15 */
};

struct search;

struct search *
search_open(struct arena *arena, const struct search_options *options);

/* A point that is to be tried from the start on, before anything else: what served another size. */
void
search_seed(struct search *search, const struct search_point *point);

/* Several points may be out at once, in any order of being told; of more than SEARCH_AHEAD the
 * oldest teaches nothing about its genes. */
#define SEARCH_AHEAD 8
void
search_ask(struct search *search, struct search_point *point);

/* How many points are best asked for together: all that are known from the start, then two. */
unsigned
search_ahead(const struct search *search);

/* `cost` is INFINITY for what failed. */
void
search_tell(struct search *search, const struct search_point *point,
            const struct search_hole *holes, size_t hole_count, double cost);

/* The point that was asked for last brings nothing new. Its holes are told all the same. */
void
search_skip(struct search *search, const struct search_hole *holes, size_t hole_count);

/* How many tells since the best got better by more than this share. */
unsigned
search_stale(const struct search *search);

/* ---- walks ---- */

/* Ways to go on, one for each phase of a recipe.
 *    id            name            words */
#define SEARCH_TOPOLOGIES(X)                                                                    \
    X(LINEAR, "linear", "one step after the other")                                             \
    X(SAMPLES, "samples", "independent proposals, all from the start")                          \
    X(TRAJECTORIES, "trajectories", "lines side by side, each going on from its own last step") \
    X(BEAM, "beam", "the best few of each round go on")                                         \
    X(EVOLUTION, "evolution", "a population whose best are changed and crossed")                \
    X(ISLANDS, "islands", "populations that exchange their best now and then")                  \
    X(ELITES, "elites", "the best of each cell of a map of kinds")                              \
    X(TREE, "tree", "any node may be gone on from")                                             \
    X(BANDIT, "bandit", "arms, each a cluster of nodes and a way to change them")               \
    X(RACE, "race", "workers side by side until one is right")                                  \
    X(BEST_FIRST, "best-first", "the most promising open plan first")

enum search_topology {
#define X(id, name, words) SEARCH_##id,
    SEARCH_TOPOLOGIES(X)
#undef X
        SEARCH_TOPOLOGY_COUNT
};

/* Whom a topology picks where it has a choice.
 *    id            name          its number             words */
#define SEARCH_SELECTS(X)                                                                    \
    X(LAST, "last", "") /* the newest */                                                     \
    X(BEST, "best", "") /* the cheapest */                                                   \
    X(RANK, "rank", "") /* with a chance that falls with the rank */                         \
    X(TOURNAMENT, "tournament", "size")                                                      \
    X(WEIGHTED, "weighted", "lambda") /* s(lambda (median - cost) / MAD) / (1 + children) */ \
    X(UCB, "ucb", "c")                /* rank share + c sqrt(ln(N + 1) / (n + 1)) */         \
    X(UCT, "uct", "c")                /* of a tree: down from the root; else as ucb */       \
    X(EPSILON, "epsilon", "epsilon")  /* the best, or with this chance any that is open */   \
    X(SOFTMAX, "softmax", "temperature")                                                     \
    X(MIX, "mix", "")     /* uniform 0.3, by cost 0.4, by novelty 0.3 */                     \
    X(MODEL, "model", "") /* a role decides: the step names the best as a default */

enum search_select {
#define X(id, name, number) SEARCH_SELECT_##id,
    SEARCH_SELECTS(X)
#undef X
        SEARCH_SELECT_COUNT
};

struct search_name {
    const char *name, *words;
};

extern const struct search_name search_topology_name[SEARCH_TOPOLOGY_COUNT];
extern const struct search_name search_select_name[SEARCH_SELECT_COUNT];

/* A greater width or number of children counts as SEARCH_PLACES, a greater population as
 * SEARCH_PEOPLE. */
enum { SEARCH_ARMS = 32, SEARCH_STEP_PARENTS = 4, SEARCH_PLACES = 256, SEARCH_PEOPLE = 4096 };

struct search_rule { /* zeros: the defaults that are named; doc/search.md has the definitions */
    enum search_topology topology;
    enum search_select select;
    double number;       /* of `select`; 0: its usual one */
    unsigned width;      /* lines, beam places, islands, workers, clusters, plans at once (1) */
    unsigned children;   /* steps in a round for each of these, of a bandit for all (1) */
    unsigned population; /* of evolution and of each island (5) */
    unsigned rounds;     /* generations, turns (10) */
    unsigned elite;      /* the cheapest so many always stay: of a beam, of each population (1) */
    bool apart;          /* of a beam: the best of each cell before the second of any */
    double cross;        /* share of steps with two parents (0) */
    unsigned migrate_every; /* rounds (0: never) */
    double migrate_rate;    /* share of a population (0.1) */
    double pool;        /* of islands: share of steps that go on from one of the `elite` cheapest
                           of all islands together (0) */
    unsigned throttle;  /* of a tree: children of the root at most (0: no limit) */
    unsigned prune;     /* a node with so many children that all failed is left alone (0: never) */
    double leaf_bias;   /* of a tree: how many times likelier a leaf is (1) */
    unsigned arms;      /* of a bandit: ways to change, for each cluster (1) */
    unsigned recluster; /* steps after which clusters are made again (10) */
    unsigned stale;     /* of best-first: attempts at a plan without progress (5) */
    unsigned inspirations; /* other nodes that a step may look at, best and worst mixed (0) */
};

/* A proposal that is wanted. */
struct search_step {
    unsigned round, lane; /* lane: line, place, island, worker, cluster */
    int parents[SEARCH_STEP_PARENTS];
    size_t parent_count; /* 0: from the start; 2: cross them */
    int inspirations[SEARCH_STEP_PARENTS];
    size_t inspiration_count;
    int arm;     /* of a bandit, else -1 */
    int plan;    /* of best-first: the number of a plan, else -1 */
    bool repeat; /* best-first: another attempt at the same plan */
};

/* What became of it. */
struct search_node {
    int number;    /* that of the caller; one that is known already adds no node; -1: there is none,
                      as nothing came of the step */
    double cost;   /* INFINITY: it failed */
    unsigned cell; /* which kind it is: of elites, of a beam with kinds apart; else any */
    double where[4];          /* features, for clusters */
    double used[SEARCH_ARMS]; /* of a bandit: share of what each arm aims at that is used already */
};

struct search_walk;

struct search_walk *
search_walk_open(struct arena *arena, const struct search_rule *rule, uint64_t seed);

/* A node that the phase begins with, before the first round; in any order. */
void
search_walk_seed(struct search_walk *walk, const struct search_node *node);

/* Best-first: a plan that may be tried. Plans have numbers of the caller; one that is known is
 * replaced, and stays closed if it was given up. A plan may be given at any time. */
struct search_plan {
    int number;
    int parent; /* node that it would change; -1, or one that is not known or failed: the start */
    /* 0 to 1; 1 to 5, only up to 4 is tried; for ties. NAN counts as 0. */
    double score, difficulty, rating;
};

void
search_walk_plan(struct search_walk *walk, const struct search_plan *plan);

/* The steps of the next round, or the rest of this one, at most `most`; all may be worked on at
 * once, and all are told before it is asked again. Which steps there are does not depend on `most`.
 * 0: it is at its end, or, best-first, there is no open plan: it goes on when there is one. */
size_t
search_walk_ask(struct search_walk *walk, struct search_step *steps, size_t most);

/* Each step that was asked for, in that order. Where a role decided (SEARCH_SELECT_MODEL) `step`
 * has the parents that it took. */
void
search_walk_tell(struct search_walk *walk, const struct search_step *step,
                 const struct search_node *node);

/* Rounds in a row without a better best. */
unsigned
search_walk_stale(const struct search_walk *walk);

/* Nodes that it would hand on, the cheapest first: beam and population members, one a cell; of the
 * others all that are right. Seeds that are still among them count. */
size_t
search_walk_best(const struct search_walk *walk, int *numbers, size_t most);

#endif
