/* A reduction cut into chunks: what the rewrites that do so share. S is the stage of the line, k
 * the index that is cut; new stages have the number of the chunk, kc, as their first index. */
#ifndef HONE_CODER_CHANGE_SPLIT_INT_H
#define HONE_CODER_CHANGE_SPLIT_INT_H

#include "coder/change_edit_int.h"

struct split {
    struct edit *edit;
    const struct expr *reduce; /* in S's code */
    unsigned number;           /* of k among its indices */
    int64_t step, chunks;
    const char *chunk;         /* name of the new index */
    const struct expr *filter; /* over the indices of a chunk, or NULL */
};

/* Reads the line's k and STEP; false: refused. */
bool
change__split_begin(struct edit *edit, struct split *split);

/* An expression of S over the indices of a chunk: kc*STEP+k for k, left indices one level further
 * in. */
const struct expr *
change__split_moved(const struct split *split, const struct expr *e);

/* The reduction of one chunk. */
const struct expr *
change__split_partial(const struct split *split, enum reduction reduction, const struct expr *body);

/* A stage [kc, ..], or [..] where it is not chunked, with the left indices of S, before stage
 * number `before`. */
struct tensor *
change__split_put(const struct split *split, size_t before, const char *name, bool chunked,
                  const struct expr *code);

/* What such a stage holds for chunk `chunk`, read in a stage with S's left indices. */
const struct expr *
change__split_read(const struct split *split, const struct tensor *partials,
                   const struct expr *chunk);

/* The reduction over all chunks, whose index follows the left ones in `body`. */
const struct expr *
change__split_combined(const struct split *split, enum reduction reduction,
                       const struct expr *body);

/* A stage with something else for its reduction. */
void
change__split_replace(struct edit *edit, struct stage *stage, const struct expr *reduce,
                      const struct expr *instead);

#endif
