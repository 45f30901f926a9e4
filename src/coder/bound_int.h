/* Bounds of loops by conditions on indices: see bound.c. */
#ifndef HONE_CODER_BOUND_INT_H
#define HONE_CODER_BOUND_INT_H

#include "coder/emit_int.h"

/* `code` with another node in the place of one of its own. */
const struct expr *
bound_exchange(struct ir *ir, const struct expr *code, const struct expr *from,
               const struct expr *to);

/* Where a loop over a reduction index runs, as C texts. */
struct reach {
    int64_t step;
    const char *low, *high;   /* from the first step to before this */
    const char *from, *until; /* steps from .. to before .. need no tests; NULL: no such end */
    uint32_t inside;          /* of these bounds */
};

/* False: it runs over all of its span. `once`: at least one step is made. Declares names. */
bool
bound_reach(struct nest *nest, size_t at, int64_t step, bool once, struct reach *reach);

/* The smaller ('<') or the larger ('>') of two texts as a name; the first may be NULL. */
const char *
bound_choice(struct emitter *em, const char *a, char sign, const char *b);

/* Can any term of the current tile count, by the bounds from number `first` on? Never: false. What
 * decides it is added to `text`, nothing if it is certain. */
bool
bound_is_possible(struct nest *nest, size_t first, struct buf *text);

/* What is left to be tested of a member's filter at the current point, returns how many. `never`:
 * it does not hold. */
size_t
bound_tests(const struct nest *nest, const struct member *member,
            const struct expr *tests[BOUND_MOST + 1], bool *never);

#endif
