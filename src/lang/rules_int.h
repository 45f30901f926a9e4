/* The arithmetic of the reference: a value and the two sizes of its rounding error.
 *
 * One function a row of the table in doc/tolerance.md; "decision n" in rules*.c cites its list.
 * v is the value in double, never rounded to the task's own types; g is the root-mean-square size
 * of the error an honest kernel makes, NaN if the element is unjudged; c is the worst case.
 *
 * `kind` is what the operation computes with: KIND_F32 and KIND_F64 round, KIND_INT and KIND_BOOL
 * do not and work on i. Constants (KIND_REAL) take the kind of what they meet before they come
 * here.
 */
#ifndef HONE_LANG_RULES_INT_H
#define HONE_LANG_RULES_INT_H

#include "lang/ir.h"

struct val {
    double v, g, c;
    int64_t i; /* KIND_INT and KIND_BOOL: the value itself; v is then the same as a double */
};

/* ---- leaves ---- */

struct val
val_integer(int64_t i);

struct val
val_real(double v, enum kind kind);

/* Unjudged: v is what the reference found, but nobody is held to it. */
struct val
val_unjudged(double v);

/* An element of an input, in its dtype. */
struct val
val_input(enum dtype dtype, const void *data, int64_t at);

/* ---- operations ---- */

/* An operand of kind `from` where the operation works in `to`: integers become floats. */
struct val
val_convert(struct val a, enum kind from, enum kind to);

struct val
val_add(struct val a, struct val b, enum kind kind);
struct val
val_sub(struct val a, struct val b, enum kind kind);
/* a+b where a is a sum of m terms and b of n (0: it is none): either may have been where the other
 * began. */
struct val
val_add_sums(struct val a, int64_t m, struct val b, int64_t n, enum kind kind);
struct val
val_mul(struct val a, struct val b, enum kind kind);
struct val
val_div(struct val a, struct val b, enum kind kind); /* integers: floor division */
struct val
val_mod(struct val a, struct val b); /* integers */
struct val
val_neg(struct val a);
struct val
val_abs(struct val a);

/* OP_MIN or OP_MAX of two. */
struct val
val_extreme(enum op op, struct val a, struct val b, enum kind kind);

/* Every operation of one argument from OP_SQRT on. */
struct val
val_function(enum op op, struct val a, enum kind kind);

struct val
val_pow(struct val a, struct val b, enum kind kind);

/* OP_LT .. OP_NE; the result is a bool. */
struct val
val_compare(enum op op, struct val a, struct val b, enum kind kind);

/* Bools and conditions. */
static inline bool
val_decided(struct val a)
{
    return a.g == 0;
}

struct val
val_not(struct val a);
struct val
val_and(struct val a, struct val b);
struct val
val_or(struct val a, struct val b);

/* `if` whose condition is not decided: a is the branch taken, b the other. */
struct val
val_either(struct val condition, struct val a, struct val b, enum kind kind);

/* A cast, or storing in a tensor: `kind` is the expression's. */
struct val
val_store(enum dtype dtype, struct val a, enum kind kind);

/* ---- reductions ---- */

/* begin, then for each term in index order add or drop, then end. */
struct val_reduction {
    enum reduction reduction;
    enum kind kind;
    int64_t count;                    /* terms that passed the filter */
    bool unjudged;                    /* a filter was undecided, a term undefined */
    bool infinite;                    /* some term was */
    struct val total;                 /* sum, mean: v and c; prod, max, min: all so far */
    double squares, sizes, roundings; /* sum, mean: of t^2, |t|, g^2 */
    bool few;                         /* sum, mean: of a stage of few elements, decision 16 */
    double prefixes;                  /* then: of the squares of partial sums in index order */
    double grown, shrunk;             /* prod: of the terms above 1, of those below */
    double reach_g, reach_c;          /* max, min: how high some term may lie */
    struct val *terms;                /* argmax, argmin: all; dropped ones have v NaN */
    int64_t term_count, best;         /* argmax, argmin: terms seen, the winner or -1 */
};

/* `terms` has room for every term; only argmax and argmin use it. */
void
val_begin(struct val_reduction *r, enum reduction reduction, enum kind kind, struct val *terms);

void
val_term(struct val_reduction *r, struct val term);

/* A term that the filter drops. */
void
val_drop(struct val_reduction *r);

/* The filter of the term just added or dropped was not decided. */
void
val_doubt(struct val_reduction *r);

struct val
val_end(struct val_reduction *r);

#endif
