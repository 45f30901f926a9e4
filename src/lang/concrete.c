/* `code` from `value`: dims become numbers, index arithmetic is simplified by what the ranges of
 * the indices allow, defaults that are never taken and filters that always hold go. */
#include "lang/build_int.h"

#include "base/num.h"

#include <string.h>

#define MAX_TERMS 16

/* x as a sum of signed terms; false if there are too many. */
static bool
flatten(const struct expr *x, int sign, const struct expr **terms, int *signs, size_t *count)
{
    if (x->op == OP_ADD || x->op == OP_SUB)
        return flatten(x->args[0], sign, terms, signs, count) &&
               flatten(x->args[1], x->op == OP_ADD ? sign : -sign, terms, signs, count);
    if (*count == MAX_TERMS)
        return false;
    terms[*count] = x;
    signs[(*count)++] = sign;
    return true;
}

static const struct expr *
add_term(struct ir *ir, const struct expr *sum, const struct expr *term, int sign)
{
    if (sum == NULL)
        return sign > 0 ? term : ir_unary(ir, OP_NEG, term);
    return ir_binary(ir, sign > 0 ? OP_ADD : OP_SUB, sum, term);
}

/* term = quotient * divisor exactly, or NULL */
static const struct expr *
exact_quotient(struct ir *ir, const struct expr *term, int64_t divisor)
{
    if (term->op == OP_INT && term->integer % divisor == 0)
        return ir_int(ir, term->integer / divisor);
    for (int i = 0; term->op == OP_MUL && i < 2; i++)
        if (term->args[i]->op == OP_INT && term->args[i]->integer % divisor == 0)
            return ir_binary(ir, OP_MUL, term->args[1 - i],
                             ir_int(ir, term->args[i]->integer / divisor));
    return NULL;
}

/* x/c and x%c where x = c*q + r and r stays within one period: q + r/c, r%c. NULL: leave it. */
static const struct expr *
divide(struct rewrite *rewrite, enum op op, const struct expr *x, int64_t divisor)
{
    struct ir *ir = rewrite->ir;
    const struct expr *terms[MAX_TERMS], *quotient = NULL, *rest = NULL;
    int signs[MAX_TERMS];
    size_t count = 0;
    int64_t low, high;
    if (divisor < 1 || !flatten(x, 1, terms, signs, &count))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const struct expr *part = exact_quotient(ir, terms[i], divisor);
        if (part != NULL)
            quotient = add_term(ir, quotient, part, signs[i]);
        else
            rest = add_term(ir, rest, terms[i], signs[i]);
    }
    rest = rest ? rest : ir_int(ir, 0);
    expr_interval(rest, rewrite->levels, &low, &high);
    int64_t whole = num_floor_div(low, divisor);
    if (whole != num_floor_div(high, divisor))
        return NULL;
    if (op == OP_MOD)
        return ir_binary(ir, OP_SUB, rest, ir_int(ir, whole * divisor));
    return add_term(ir, quotient, ir_int(ir, whole), 1);
}

/* Integer and bool nodes whose value the ranges decide. */
static const struct expr *
decide(struct rewrite *rewrite, const struct expr *e)
{
    int64_t low, high;
    if (e->kind > KIND_INT || e->op == OP_INT || e->op == OP_INDEX || e->op == OP_LOAD ||
        e->op == OP_REDUCE || e->op == OP_CAST)
        return e;
    expr_interval(e, rewrite->levels, &low, &high);
    if (low == high && !e->loads)
        return e->kind == KIND_BOOL ? ir_bool(rewrite->ir, low != 0) : ir_int(rewrite->ir, low);
    if ((e->op == OP_DIV || e->op == OP_MOD) && e->args[1]->op == OP_INT) {
        const struct expr *simple = divide(rewrite, e->op, e->args[0], e->args[1]->integer);
        return simple ? simple : e;
    }
    if ((e->op == OP_MIN || e->op == OP_MAX) && e->kind == KIND_INT) {
        int64_t other_low, other_high;
        expr_interval(e->args[0], rewrite->levels, &low, &high);
        expr_interval(e->args[1], rewrite->levels, &other_low, &other_high);
        if (high <= other_low)
            return e->args[e->op == OP_MIN ? 0 : 1];
        if (low >= other_high)
            return e->args[e->op == OP_MIN ? 1 : 0];
    }
    return e;
}

static const struct expr *
concrete_load(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    const struct tensor *tensor = e->tensor;
    const struct expr *otherwise = e->count > tensor->rank ? args[tensor->rank] : NULL;
    bool inside = true;
    for (unsigned i = 0; i < tensor->rank && inside; i++) {
        int64_t low, high;
        expr_interval(args[i], rewrite->levels, &low, &high);
        inside = low >= 0 && high < tensor->size[i];
    }
    enum kind kind = dtype_info[tensor->dtype].kind;
    if (inside && (otherwise == NULL || e->kind == kind))
        otherwise = NULL;
    return ir_load(rewrite->ir, tensor, kind, tensor->rank, args, otherwise);
}

static const struct binder *
concrete_binder(struct rewrite *rewrite, const struct binder *old)
{
    struct binder *binder = arena_alloc(ir_arena(rewrite->ir), sizeof *binder);
    const struct expr **extents = arena_array(ir_arena(rewrite->ir), old->count, sizeof *extents);
    for (unsigned i = 0; i < old->count; i++)
        extents[i] = ir_int(rewrite->ir, expr_integer(old->extent[i]));
    *binder = *old;
    binder->extent = extents;
    return binder;
}

static const struct expr *
leave_concrete(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    struct ir *ir = rewrite->ir;
    switch (e->op) {
    case OP_DIM:
        return ir_int(ir, e->dim->size);
    case OP_INT:
        return e->kind == KIND_INT ? ir_int(ir, e->integer) : e;
    case OP_LOAD:
        return concrete_load(rewrite, e, args);
    case OP_REDUCE:
        return ir_reduce(ir, concrete_binder(rewrite, e->binder), args[0],
                         e->count > 1 ? args[1] : NULL);
    case OP_CAT:
        return ir_cat(ir, concrete_binder(rewrite, e->binder), args);
    default:
        break;
    }
    const struct expr *node = ir_with_args(ir, e, args);
    if (node->kind == KIND_REAL && node->op != OP_REAL && expr_is_constant(node))
        return ir_real(ir, expr_real(node));
    return decide(rewrite, node);
}

void
make_concrete(struct builder *b, struct stage *stage)
{
    struct rewrite rewrite = {.ir = b->ir, .leave = leave_concrete, .pieces = PIECES_VALUE_TO_CODE};
    const struct tensor *tensor = stage->tensor;
    for (unsigned i = 0; i < tensor->rank; i++)
        rewrite.levels[i] =
            (struct level){tensor->extent[i], stage->index[i], 0, tensor->size[i] - 1};
    stage->code = ir_rewrite(&rewrite, stage->value);
}

const struct expr *
ir_simplify(struct ir *ir, const struct expr *e, const struct level *levels)
{
    struct rewrite rewrite = {.ir = ir, .leave = leave_concrete, .pieces = PIECES_CODE};
    memcpy(rewrite.levels, levels, sizeof rewrite.levels);
    return ir_rewrite(&rewrite, e);
}
