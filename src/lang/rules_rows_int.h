/* Inside the rules: what all rows of the table share, and the questions that several ask. */
#ifndef HONE_LANG_RULES_ROWS_INT_H
#define HONE_LANG_RULES_ROWS_INT_H

#include "lang/rules_int.h"

#include <math.h>

/* Whether a < b and so on holds, and whether rounding could change that (decision 2). */
bool
rule_holds(enum op op, struct val a, struct val b, enum kind kind);
bool
rule_decided(struct val a, struct val b);

static inline bool
is_whole(enum kind kind)
{
    return kind <= KIND_INT;
}

/* Roundoff, smallest normal and largest number of the arithmetic. */
static inline const struct dtype_info *
arithmetic(enum kind kind)
{
    return &dtype_info[kind == KIND_F64 ? DTYPE_F64 : DTYPE_F32];
}

/* x (+) y. Unlike hypot() it lets a NaN win over an infinity: unjudged stays unjudged. */
static inline double
root(double x, double y)
{
    return isnan(x) || isnan(y) ? NAN : hypot(x, y);
}

/* A size times a factor; what is exact stays exact, however steep the slope. */
static inline double
times(double factor, double size)
{
    return size == 0 ? 0 : factor * size;
}

/* `units` roundings of a result v; decision 6: it may have been flushed to zero. */
static inline double
rounding(double v, double units, const struct dtype_info *type)
{
    double size = fabs(v);

    return size < type->smallest ? size : units * type->roundoff * size;
}

static inline struct val
exact(double v)
{
    return (struct val){.v = v};
}

/* A float result and its sizes. `infinite`: some operand was; `judged`: all operands were. */
static inline struct val
settle(struct val a, bool judged, bool infinite, const struct dtype_info *type)
{
    if (!judged)
        return val_unjudged(a.v);
    if (isnan(a.v)) /* decision 7 */
        return exact(a.v);
    if (isinf(a.v) && infinite) /* decision 5 */
        return exact(a.v);
    if (fabs(a.v) > type->largest || isnan(a.g))
        return val_unjudged(a.v);
    if (isnan(a.c)) /* infinity times zero: saturated */
        a.c = INFINITY;
    return a;
}

static inline struct val
settle_one(struct val result, struct val a, const struct dtype_info *type)
{
    return settle(result, !isnan(a.g), isinf(a.v), type);
}

static inline struct val
settle_two(struct val result, struct val a, struct val b, const struct dtype_info *type)
{
    return settle(result, !isnan(a.g) && !isnan(b.g), isinf(a.v) || isinf(b.v), type);
}

/* An integer result; g and c come from undecided bools and casts (decision 3). */
static inline struct val
whole(int64_t i, double g, double c)
{
    if (isnan(g))
        c = INFINITY;
    return (struct val){.v = (double)i, .g = g, .c = c, .i = i};
}

#endif
