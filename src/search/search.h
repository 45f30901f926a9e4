/* search: what to try next. Strategies are asked for points and told what they cost; they know
 * nothing of kernels, clocks or files, so that the same seed and the same costs give the same
 * questions.
 *
 *   search_open      a strategy
 *   search_ask       the next point
 *   search_tell      what it cost
 *   search_skip      it is the same as an earlier one, or no point at all
 *
 * A point is a string of genes. Who asks for a point finds out which genes matter for it and how
 * many values each may have (its holes), and tells them along with the cost.
 *
 * Ownership law: everything lives in the arena given.
 */
#ifndef HONE_SEARCH_SEARCH_H
#define HONE_SEARCH_SEARCH_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

#define SEARCH_GENES 256

struct search_point {
    uint8_t gene[SEARCH_GENES]; /* 0: the usual value */
};

struct search_hole {
    uint8_t gene;
    unsigned values; /* at least 2 */
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

void
search_ask(struct search *search, struct search_point *point);

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

#endif
