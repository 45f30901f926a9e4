/* Making and rewriting expressions, for those who change programs.
 *
 * Nodes are hash-consed within their `struct ir`: equal structure is the same pointer. A program
 * keeps the one it was made with, so that new nodes may be made for it later; who does so sets the
 * program's expr_count anew.
 */
#ifndef HONE_LANG_MAKE_H
#define HONE_LANG_MAKE_H

#include "base/arena.h"
#include "lang/ir.h"

#define IR_MAX_TREE 1000000 /* operations of one stage, written out */

struct ir;

struct ir *
ir_create(struct arena *arena);
size_t
ir_count(const struct ir *ir);
struct arena *
ir_arena(const struct ir *ir);

const struct expr *
ir_int(struct ir *ir, int64_t value);
const struct expr *
ir_bool(struct ir *ir, bool value);
const struct expr *
ir_real(struct ir *ir, double value);
const struct expr *
ir_index(struct ir *ir, unsigned level);
const struct expr *
ir_dim(struct ir *ir, const struct dim *dim);
/* `subscripts` has `rank` entries; `otherwise` is the default or NULL. `kind` is that of an
 * element. */
const struct expr *
ir_load(struct ir *ir, const struct tensor *tensor, enum kind kind, unsigned rank,
        const struct expr *const *subscripts, const struct expr *otherwise);
const struct expr *
ir_reduce(struct ir *ir, const struct binder *binder, const struct expr *body,
          const struct expr *filter);
const struct expr *
ir_cat(struct ir *ir, const struct binder *binder, const struct expr *const *pieces);
const struct expr *
ir_cast(struct ir *ir, enum dtype dtype, const struct expr *value);

/* Operators and functions. Kinds follow the arguments, constants are folded (dims stay symbolic),
 * the identities of integer arithmetic are applied. The caller has checked that it makes sense. */
const struct expr *
ir_unary(struct ir *ir, enum op op, const struct expr *a);
const struct expr *
ir_binary(struct ir *ir, enum op op, const struct expr *a, const struct expr *b);
const struct expr *
ir_if(struct ir *ir, const struct expr *condition, const struct expr *a, const struct expr *b);

/* The same node with other arguments, folded again. */
const struct expr *
ir_with_args(struct ir *ir, const struct expr *e, const struct expr *const *args);

/* Value of a constant INT or BOOL expression; false if it overflows 63 bits or divides by zero. */
bool
expr_checked_integer(const struct expr *e, int64_t *value);

/* Operations on numbers. apply_int: false when it overflows or divides by zero. */
double
apply_real(enum op op, double a, double b);
bool
apply_int(enum op op, int64_t a, int64_t b, int64_t *result);
bool
compare_real(enum op op, double a, double b);
bool
is_comparison(enum op op);

/* A number written as such: INT or REAL. */
static inline bool
is_number(const struct expr *e)
{
    return e->op == OP_INT || e->op == OP_REAL;
}

/* A condition that always holds. */
static inline bool
is_true(const struct expr *e)
{
    return e->op == OP_INT && e->integer != 0;
}

/* ---- rewriting ---- */

/* What is known of an index where we stand. */
struct level {
    const struct expr *extent;
    const char *name;
    int64_t low, high; /* its values */
};

/* How the pieces of a CAT are read: they count from their own start in `value`, explicitly from the
 * whole's in `code`; GENERAL: by starts that keep their dims. */
enum pieces { PIECES_VALUE, PIECES_CODE, PIECES_VALUE_TO_CODE, PIECES_VALUE_TO_GENERAL };

struct rewrite {
    struct ir *ir;
    /* Called for each node, arguments first, with the rewritten arguments. */
    const struct expr *(*leave)(struct rewrite *rewrite, const struct expr *e,
                                const struct expr *const *args);
    void *context;
    struct level levels[LANG_MAX_LEVELS];
    unsigned depth;                              /* REDUCE nodes around us */
    const struct expr *replace[LANG_MAX_LEVELS]; /* for INDEX nodes, or NULL */
    enum pieces pieces;
    struct memo *memo; /* private */
};

/* `levels` of the left indices are set by the caller; those of reductions are set while inside. */
const struct expr *
ir_rewrite(struct rewrite *rewrite, const struct expr *e);

/* An expression of `code` with its index arithmetic simplified by the ranges in `levels` (of the
 * left indices, or of all where it stands below a reduction); defaults that cannot be taken go. */
const struct expr *
ir_simplify(struct ir *ir, const struct expr *e, const struct level *levels);

/* ---- intervals and linear forms ---- */

/* Values of an integer or bool expression of `code` over the ranges of its indices; saturates far
 * outside of any size. */
void
expr_interval(const struct expr *e, const struct level *levels, int64_t *low, int64_t *high);
/* The same of `value`, where the pieces of a CAT count from their own start. */
void
expr_value_interval(const struct expr *e, const struct level *levels, int64_t *low, int64_t *high);

/* e = constant + sum of coefficient[l] * index l, in numbers; false if it is no such form. */
bool
expr_affine(const struct expr *e, int64_t coefficient[LANG_MAX_LEVELS], int64_t *constant);

#endif
