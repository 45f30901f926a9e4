/* Inside the counting of costs: how many points of a box of indices satisfy a conjunction.
 *
 * Everything is allocated in counter.arena and dropped with it. */
#ifndef HONE_LANG_COST_INT_H
#define HONE_LANG_COST_INT_H

#include "base/arena.h"
#include "lang/ir_int.h"

/* low <= a - b <= high; b may be NULL. A truth value is 0 or 1. */
struct atom {
    const struct expr *a, *b;
    int64_t low, high;
};

/* A list of conditions that all hold. */
struct cond {
    const struct cond *next;
    struct atom atom;
    const struct cond *denied; /* if not NULL, instead of atom: not all of this list hold */
};

/* The ranges of the first `count` levels: 0 .. size-1 each. */
struct box {
    unsigned count;
    int64_t size[LANG_MAX_LEVELS];
};

struct span {
    int64_t low, high;
};

struct counter {
    struct arena *arena;
    int64_t budget; /* steps of enumeration left; without any a condition counts as passing */
    bool exact;     /* no condition was taken as passing */
};

/* Whether an expression can be counted exactly: integers and truth values of indices alone. */
bool
cost__of_indices(const struct expr *e);

/* `rest` and: e is true (or, if !want, false). What depends on data passes and is not exact. */
const struct cond *
cost__hold(struct counter *counter, const struct cond *rest, const struct expr *e, bool want);

/* `rest` and: low <= e <= high. */
const struct cond *
cost__within(struct counter *counter, const struct cond *rest, const struct expr *e, int64_t low,
             int64_t high);

/* `rest` and: not all of `denied`. */
const struct cond *
cost__deny(struct counter *counter, const struct cond *rest, const struct cond *denied);

/* The number of points of the box that satisfy the list. */
double
cost__points(struct counter *counter, const struct box *box, const struct cond *list);

/* An interval that holds every value of an integer expression over the box. */
struct span
cost__span(const struct expr *e, const struct box *box);

/* Sets the ranges of a reduction's indices; the number of levels inside it. */
unsigned
cost__bind(const struct expr *reduce, struct box *box);

/* Flops and functions of all stages or of those in f64; false: out of memory. */
bool
cost__flops(const struct program *program, bool only_f64, struct cost *cost);

/* Bytes of inputs that can be read, and of outputs; false: out of memory. */
bool
cost__bytes(const struct program *program, struct cost *cost);

#endif
