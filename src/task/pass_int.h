/* Passing over outputs of floats: blocks of elements beside what the reference says of them.
 *
 * What tolerance_error() says of one element, in vectors and without branches: every element of
 * every set of inputs is compared, and one by one that cost more than the reference itself. Blocks
 * where an infinity or a NaN has to be compared are left to tolerance_error().
 */
#ifndef HONE_TASK_PASS_INT_H
#define HONE_TASK_PASS_INT_H

#include "task/task_int.h"

enum { BLOCK = 512, WIDEST = 8 }; /* elements: of a block, of the widest vector */

struct block {
    const struct lang_result *result;
    int64_t first, count;
    int64_t end; /* of whole vectors; from `count` on its elements are unjudged */
    const double *v, *g, *c;
    double room[3][BLOCK]; /* for a block that is not full, or has no g and c */
};

/* Elements of an output somewhere, in step with a block. */
struct got {
    const float *single; /* or NULL, and then: */
    const double *doubles;
    double room[BLOCK];
};

void
block_take(struct block *block, const struct lang_result *result, int64_t first);
void
block_read(const struct block *block, const void *data, struct got *got);

/* What honest evaluations show: sums over the blocks of an output. */
struct shown {
    double ratio;          /* the largest error, in units of the gate with k = 1 */
    double squares, count; /* of the values that are finite */
};

enum { DRAWS = 128, NORMALS = DRAWS / 2 };

struct fit { /* (offset + factor*z) * scale */
    double factor, offset, scale;
};

struct passes {
    bool (*supported)(void);
    /* error_squares: summed over the evaluations, up to block->end. false: nothing was added. */
    bool (*observe)(const struct block *block, const struct got got[HONEST], struct shown *shown,
                    double error_squares[BLOCK]);
    /* All but first_wrong. false: nothing was added. */
    bool (*compare)(const struct block *block, const struct tolerance *tolerance,
                    const struct got *got, struct comparison *comparison);
    bool (*has_denormals)(const uint32_t *bits, int64_t count); /* of f32 */
    /* Numbers first, first + 1, ... of a stream. */
    void (*draw)(const uint32_t key[2], uint64_t first, uint64_t draws[DRAWS]);
    /* The same as rng_normal() makes of them, two each, fitted: between low and high, which are
     * neighbours at most. true: everywhere the same. */
    bool (*normals)(const uint32_t key[2], uint64_t first, const struct fit *fit,
                    float low[NORMALS], float high[NORMALS]);
};

extern const struct passes pass__avx2, pass__plain;

const struct passes *
pass_here(void);

#endif
