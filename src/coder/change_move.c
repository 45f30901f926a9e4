/* Index arithmetic as sums, and expressions moved to other indices. */
#include "coder/change_edit_int.h"

#include "base/num.h"

#include <assert.h>
#include <string.h>

/* ---- sums ---- */

static bool
add_term(struct sum *sum, const struct expr *atom, int64_t factor)
{
    for (unsigned i = 0; i < sum->count; i++)
        if (sum->terms[i].atom == atom)
            return num_add(sum->terms[i].factor, factor, &sum->terms[i].factor);
    if (sum->count == CHANGE_TERMS)
        return false;
    sum->terms[sum->count].atom = atom;
    sum->terms[sum->count++].factor = factor;
    return true;
}

static bool
add_scaled(struct sum *sum, const struct expr *e, int64_t factor)
{
    int64_t part;
    switch (e->op) {
    case OP_INT:
        return num_mul(e->integer, factor, &part) && num_add(sum->constant, part, &sum->constant);
    case OP_NEG:
        return num_mul(factor, -1, &part) && add_scaled(sum, e->args[0], part);
    case OP_ADD:
    case OP_SUB:
        return num_mul(factor, e->op == OP_SUB ? -1 : 1, &part) &&
               add_scaled(sum, e->args[0], factor) && add_scaled(sum, e->args[1], part);
    case OP_MUL:
        for (unsigned i = 0; i < 2; i++)
            if (e->args[i]->op == OP_INT)
                return num_mul(e->args[i]->integer, factor, &part) &&
                       add_scaled(sum, e->args[1 - i], part);
        return add_term(sum, e, factor);
    default:
        return add_term(sum, e, factor);
    }
}

bool
change__sum(const struct expr *e, struct sum *sum)
{
    *sum = (struct sum){0};
    return e->kind == KIND_INT && add_scaled(sum, e, 1);
}

/* What is added comes first, then what is taken away; the constant last, or first if nothing else
 * is added. */
const struct expr *
change__expr(struct ir *ir, const struct sum *sum)
{
    const struct expr *e = NULL, *constant = ir_int(ir, sum->constant);
    for (unsigned i = 0; i < sum->count; i++) {
        const struct expr *factor = ir_int(ir, sum->terms[i].factor);
        if (sum->terms[i].factor <= 0)
            continue;
        const struct expr *term = ir_binary(ir, OP_MUL, sum->terms[i].atom, factor);
        e = e == NULL ? term : ir_binary(ir, OP_ADD, e, term);
    }
    bool added = e != NULL;
    e = added ? e : constant;
    for (unsigned i = 0; i < sum->count; i++)
        if (sum->terms[i].factor < 0)
            e = ir_binary(
                ir, OP_SUB, e,
                ir_binary(ir, OP_MUL, sum->terms[i].atom, ir_int(ir, -sum->terms[i].factor)));
    return added ? ir_binary(ir, OP_ADD, e, constant) : e;
}

/* e = step*quotient + rest */
static bool
split_sum(const struct expr *e, int64_t step, struct sum *quotient, struct sum *rest)
{
    struct sum sum;
    if (!change__sum(e, &sum))
        return false;
    *quotient = *rest = (struct sum){0};
    for (unsigned i = 0; i < sum.count; i++) {
        bool whole = sum.terms[i].factor % step == 0;
        struct sum *to = whole ? quotient : rest;
        to->terms[to->count] = sum.terms[i];
        to->terms[to->count++].factor /= whole ? step : 1;
    }
    if (rest->count == 0) {
        quotient->constant = num_floor_div(sum.constant, step);
        rest->constant = num_floor_mod(sum.constant, step);
    } else if (sum.constant % step == 0)
        quotient->constant = sum.constant / step;
    else
        rest->constant = sum.constant;
    return true;
}

const struct expr *
change__quotient(struct ir *ir, const struct expr *e, int64_t step)
{
    struct sum quotient, rest;
    const struct expr *divisor = ir_int(ir, step);
    if (!split_sum(e, step, &quotient, &rest))
        return ir_binary(ir, OP_DIV, e, divisor);
    const struct expr *part = ir_binary(ir, OP_DIV, change__expr(ir, &rest), divisor);
    if (quotient.count == 0)
        return ir_binary(ir, OP_ADD, part, ir_int(ir, quotient.constant));
    if (part->op == OP_INT) {
        quotient.constant += part->integer;
        return change__expr(ir, &quotient);
    }
    return ir_binary(ir, OP_ADD, change__expr(ir, &quotient), part);
}

const struct expr *
change__remainder(struct ir *ir, const struct expr *e, int64_t step)
{
    struct sum quotient, rest;
    if (!split_sum(e, step, &quotient, &rest))
        return ir_binary(ir, OP_MOD, e, ir_int(ir, step));
    return ir_binary(ir, OP_MOD, change__expr(ir, &rest), ir_int(ir, step));
}

/* ---- moving ---- */

static const struct binder *
moved_binder(const struct move *move, const struct expr *e)
{
    struct binder *binder = arena_alloc(ir_arena(move->rewrite.ir), sizeof *binder);
    *binder = *e->binder;
    if (e->op == OP_REDUCE)
        binder->level = move->rank;
    else if (move->rewrite.replace[binder->level] != NULL) {
        assert(move->rewrite.replace[binder->level]->op == OP_INDEX);
        binder->level = move->rewrite.replace[binder->level]->level;
    }
    return binder;
}

static const struct expr *
leave_moving(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    struct move *move = rewrite->context;
    struct ir *ir = rewrite->ir;
    if (e == move->drop)
        return move->instead;
    if (e->op == OP_LOAD && move->load != NULL) {
        const struct expr *load = move->load(move, e, args);
        if (load != NULL)
            return load;
    }
    if (e->op == OP_LOAD && e->count > 0 &&
        memcmp(args, e->args, e->tensor->rank * sizeof *args) != 0)
        return change__load(move->edit, e->tensor, args,
                            e->count > e->tensor->rank ? args[e->tensor->rank] : NULL);
    if (e->op == OP_REDUCE)
        return ir_reduce(ir, moved_binder(move, e), args[0], e->count > 1 ? args[1] : NULL);
    if (e->op == OP_CAT)
        return ir_cat(ir, moved_binder(move, e), args);
    if (move->divides && (e->op == OP_DIV || e->op == OP_MOD) && e->kind == KIND_INT &&
        args[1]->op == OP_INT && args[1]->integer > 0)
        return e->op == OP_DIV ? change__quotient(ir, args[0], args[1]->integer)
                               : change__remainder(ir, args[0], args[1]->integer);
    return ir_with_args(ir, e, args);
}

void
change__begin_move(struct edit *edit, struct move *move, const struct expr *code, unsigned rank)
{
    const struct expr *reduction = change__reduction(edit, code);
    *move = (struct move){.edit = edit, .rank = rank};
    move->rewrite.ir = edit->ir;
    move->rewrite.leave = leave_moving;
    move->rewrite.pieces = PIECES_CODE;
    change__levels(change__stage(edit), move->rewrite.levels);
    for (unsigned i = 0; reduction != NULL && i < reduction->binder->count; i++)
        move->rewrite.replace[reduction->binder->level + i] = ir_index(edit->ir, rank + i);
}

const struct expr *
change__move(struct move *move, const struct expr *e)
{
    move->rewrite.context = move;
    return ir_rewrite(&move->rewrite, e);
}
