/* What the tests of walks share: a walk that is driven, with all that was asked and told. */
#ifndef HONE_TESTS_WALK_UNIT_H
#define HONE_TESTS_WALK_UNIT_H

#include "search/search.h"

#include "base/arena.h"
#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { DRIVE_MOST = 4096 };

struct drive {
    struct arena *arena;
    struct search_walk *walk;
    struct search_step steps[DRIVE_MOST]; /* all that were handed out */
    size_t count;                         /* those that were told */
    double costs[2 * DRIVE_MOST];         /* by number */
    int next;                             /* number */
};

static inline struct drive *
drive_open(const struct search_rule *rule, uint64_t seed)
{
    struct arena *arena = arena_create();
    struct drive *drive = arena_alloc(arena, sizeof *drive);
    drive->arena = arena;
    drive->walk = search_walk_open(arena, rule, seed);
    return drive;
}

static inline void
drive_close(struct drive *drive)
{
    arena_destroy(drive->arena);
}

static inline void
drive_seed(struct drive *drive, double cost)
{
    drive->costs[drive->next] = cost;
    search_walk_seed(drive->walk, &(struct search_node){.number = drive->next++, .cost = cost});
}

/* Hands out at most `most`, and returns the first of them. NULL: at its end. */
static inline struct search_step *
drive_ask(struct drive *drive, size_t most, size_t *count)
{
    struct search_step *steps = &drive->steps[drive->count];
    assert_true(drive->count + most <= DRIVE_MOST);
    *count = search_walk_ask(drive->walk, steps, most);
    assert_true(*count <= most);
    return *count > 0 ? steps : NULL;
}

/* A new node of this cost and cell. */
static inline int
drive_tell(struct drive *drive, double cost, unsigned cell)
{
    struct search_node node = {.number = drive->next++, .cost = cost, .cell = cell};
    drive->costs[node.number] = cost;
    search_walk_tell(drive->walk, &drive->steps[drive->count], &node);
    drive->count++;
    return node.number;
}

/* Nothing came of it. */
static inline void
drive_tell_nothing(struct drive *drive)
{
    struct search_node node = {.number = -1, .cost = INFINITY};
    search_walk_tell(drive->walk, &drive->steps[drive->count], &node);
    drive->count++;
}

/* Draws of the tests' own. */
static inline double
drive_draw(uint64_t seed, uint64_t number)
{
    struct rng rng = rng_stream(seed * 1000003 + number, "outcome");
    return rng_uniform(&rng);
}

/* What a random proposal comes to: one in `fails` fails, costs are about `around`. */
static inline double
drive_outcome(uint64_t seed, uint64_t number, unsigned fails, double around)
{
    if (fails > 0 && (uint64_t)(drive_draw(seed, 2 * number) * 1e6) % fails == 0)
        return INFINITY;
    return around * (0.5 + drive_draw(seed, 2 * number + 1));
}

/* So many standard deviations of a count of `tries` chances of `share` each. */
static inline void
assert_rate(double count, double tries, double share)
{
    double deviation = sqrt(tries * share * (1 - share));
    assert_true(fabs(count - tries * share) <= 4 * deviation + 1e-9);
}

#endif
