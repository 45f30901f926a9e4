/* Evolution with a bandit: the best few are changed in one or two genes; which gene is chosen by an
 * upper confidence bound on how much changes of it gained. doc/optimize.md has the definition, and
 * says why genes are the arms. */
#include "search/search.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

#define PROGRESS 0.01 /* a smaller gain is none */

struct known {
    struct search_point point;
    double cost;
};

struct arm { /* a gene */
    unsigned values, tries;
    double gains, weight;
};

struct asked { /* a point that has not been told yet */
    struct search_point point;
    uint16_t changed[2]; /* genes that differ from its parent */
    unsigned changed_count;
    double parent_cost;
};

struct search {
    struct arena *arena;
    struct search_options options;
    struct rng rng;
    struct known *best; /* sorted, at most options.parents */
    size_t best_count;
    struct search_point *seeds;
    size_t seed_count, seeds_used;
    unsigned asked, told, stale;
    double last_progress; /* the best cost when it last got better by more than PROGRESS */
    struct arm arms[SEARCH_GENES];
    struct asked out[SEARCH_AHEAD]; /* oldest first */
    size_t out_count;
};

struct search *
search_open(struct arena *arena, const struct search_options *options)
{
    struct search *search = arena_alloc(arena, sizeof *search);
    search->arena = arena;
    search->options = *options;
    if (search->options.first == 0)
        search->options.first = 8;
    if (search->options.parents == 0)
        search->options.parents = 4;
    if (search->options.fresh == 0)
        search->options.fresh = 0.15;
    search->rng = rng_stream(options->seed, "evolve");
    search->best = arena_array(arena, search->options.parents + 1, sizeof *search->best);
    search->last_progress = INFINITY;
    return search;
}

void
search_seed(struct search *search, const struct search_point *point)
{
    search->seeds = arena_grow(search->arena, search->seeds, search->seed_count,
                               search->seed_count + 1, sizeof *search->seeds);
    search->seeds[search->seed_count++] = *point;
}

/* ---- asking ---- */

/* Upper confidence bound: what changes of the gene gained, and how little that is known. */
static int
choose_gene(struct search *search)
{
    double best = -1, total = 1;
    int chosen = -1;
    for (int i = 0; i < SEARCH_GENES; i++)
        total += search->arms[i].tries;
    for (int i = 0; i < SEARCH_GENES; i++) {
        const struct arm *arm = &search->arms[i];
        if (arm->values < 2)
            continue;
        double bound = INFINITY;
        if (arm->tries > 0)
            bound = arm->gains / arm->tries + 0.5 * sqrt(log(total) / arm->tries);
        /* equals are told apart by chance */
        bound = isinf(bound) ? 1e6 + 1e3 * arm->weight + rng_uniform(&search->rng)
                             : bound + 1e-6 * rng_uniform(&search->rng);
        if (bound > best) {
            best = bound;
            chosen = i;
        }
    }
    return chosen;
}

static void
change_gene(struct search *search, struct asked *asked)
{
    int gene = choose_gene(search);
    if (gene < 0)
        return;
    uint8_t *value = &asked->point.gene[gene];
    unsigned values = search->arms[gene].values;
    *value = (uint8_t)((*value % values + 1 + rng_below(&search->rng, values - 1)) % values);
    asked->changed[asked->changed_count++] = (uint16_t)gene;
    search->arms[gene].tries++;
}

static void
random_point(struct search *search, struct search_point *point, double share)
{
    *point = (struct search_point){{0}};
    for (int i = 0; i < SEARCH_GENES; i++)
        if (search->arms[i].values > 1 && rng_uniform(&search->rng) < share)
            point->gene[i] = (uint8_t)rng_below(&search->rng, search->arms[i].values);
}

static void
cross(struct search *search, struct search_point *point)
{
    const struct search_point *other =
        &search->best[rng_below(&search->rng, search->best_count)].point;
    for (int i = 0; i < SEARCH_GENES; i++)
        if (rng_next(&search->rng) & 1)
            point->gene[i] = other->gene[i];
}

static void
breed(struct search *search, struct asked *asked)
{
    /* the better ones more often */
    size_t many = search->told < search->options.first ? 1 : search->best_count;
    size_t a = rng_below(&search->rng, many), b = rng_below(&search->rng, many);
    const struct known *parent = &search->best[a < b ? a : b];
    asked->point = parent->point;
    asked->parent_cost = parent->cost;
    if (search->best_count > 1 && rng_uniform(&search->rng) < 0.15) {
        cross(search, &asked->point);
        return;
    }
    change_gene(search, asked);
    if (rng_uniform(&search->rng) < 0.35)
        change_gene(search, asked);
}

void
search_ask(struct search *search, struct search_point *point)
{
    unsigned number = search->asked++;
    if (search->out_count == SEARCH_AHEAD) /* the oldest is given up */
        memmove(search->out, search->out + 1, --search->out_count * sizeof *search->out);
    struct asked *asked = &search->out[search->out_count++];
    *asked = (struct asked){.parent_cost = INFINITY};
    if (number > 0 && search->seeds_used < search->seed_count)
        asked->point = search->seeds[search->seeds_used++];
    else if (number > 0 &&
             (search->best_count == 0 || rng_uniform(&search->rng) < search->options.fresh))
        random_point(search, &asked->point, search->best_count == 0 ? 0.5 : 0.3);
    else if (number > 0)
        breed(search, asked);
    *point = asked->point;
}

unsigned
search_ahead(const struct search *search)
{
    size_t seeds = search->seed_count - search->seeds_used + (search->asked == 0);
    return seeds == 0 ? 2 : seeds < SEARCH_AHEAD ? (unsigned)seeds : SEARCH_AHEAD;
}

/* ---- telling ---- */

static void
learn_holes(struct search *search, const struct search_hole *holes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        search->arms[holes[i].gene].values = holes[i].values;
        search->arms[holes[i].gene].weight = holes[i].weight;
    }
}

/* The genes that were changed for a point have helped, or not: a tenth of the time is as good as
 * more. It is out no more. */
static void
reward(struct search *search, const struct search_point *point, double cost)
{
    size_t at = 0;
    while (at < search->out_count && memcmp(&search->out[at].point, point, sizeof *point) != 0)
        at++;
    if (at == search->out_count)
        return;
    const struct asked *asked = &search->out[at];
    for (unsigned i = 0; i < asked->changed_count; i++)
        if (cost < asked->parent_cost)
            search->arms[asked->changed[i]].gains +=
                fmin(1, 10 * (asked->parent_cost - cost) / asked->parent_cost);
    search->out_count--;
    memmove(&search->out[at], &search->out[at + 1], (search->out_count - at) * sizeof *search->out);
}

void
search_tell(struct search *search, const struct search_point *point,
            const struct search_hole *holes, size_t hole_count, double cost)
{
    learn_holes(search, holes, hole_count);
    search->told++;
    reward(search, point, cost);
    if (isinf(cost) || isnan(cost)) {
        search->stale++;
        return;
    }
    size_t at = search->best_count;
    while (at > 0 && search->best[at - 1].cost > cost) {
        search->best[at] = search->best[at - 1];
        at--;
    }
    search->best[at] = (struct known){*point, cost};
    if (search->best_count < search->options.parents)
        search->best_count++;
    search->stale++;
    if (cost < search->last_progress * (1 - PROGRESS)) {
        search->last_progress = cost;
        search->stale = 0;
    }
}

void
search_skip(struct search *search, const struct search_hole *holes, size_t hole_count)
{
    learn_holes(search, holes, hole_count);
    if (search->out_count > 0)
        search->out_count--;
}

unsigned
search_stale(const struct search *search)
{
    return search->stale;
}
