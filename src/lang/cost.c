/* Flops and functions of an expanded program (bytes: cost_bytes.c).
 *
 * What counts: op_info says which operations are a flop and which are listed apart; each term of a
 * reduction is one more, a mean one division more. Nothing counts inside subscripts, below an
 * integer or truth value that reads no tensor (index arithmetic), or in a constant.
 *
 * A stage is cut into *scopes*: sets of nodes that are evaluated together, at the points of a box
 * of indices that satisfy a list of conditions. The stage's own scope is all points of its left
 * side; a branch of `if`, the second side of && and ||, the default of a load, a piece of cat and
 * the body of a reduction are scopes inside it. A scope costs its own nodes times its points.
 *
 *  1. A node counts once in a scope, and not at all if an enclosing scope has it. So that this does
 *     not depend on the order of operands, a scope's own nodes are walked before the scopes in it.
 *  2. A condition on indices alone is counted exactly (cost_count.c). A branch under a condition on
 *     data counts as if always taken, and of two the dearer one counts; that is the worst case, not
 *     an estimate, and stays `exact`. Only a filter on data, or one too large to count, makes the
 *     result inexact: it counts as passing.
 *
 *  3. A term of a sum that is a product with a load's default of 0 does not count: it adds nothing.
 *
 * When memory runs out flops is NaN: there is no other result. */
#include "lang/cost_int.h"

#include <math.h>
#include <string.h>

#define BUDGET 2000000 /* steps of enumeration for one program: about 10 ms */
#define MOST_FACTORS 8 /* of a product, that are looked at */

struct tally {
    double flops, apart[OP_COUNT];
};

/* A scope that waits until the nodes of its parent are walked. */
struct later {
    struct later *next;
    enum { LATER_SCOPE, LATER_DEARER, LATER_REDUCE } what;
    const struct expr *e, *other; /* other: the second branch of DEARER */
    const struct cond *conds;
};

struct scope {
    unsigned depth;
    uint32_t serial;
    unsigned levels; /* of the box */
    const struct cond *conds;
    struct tally unit; /* at one point */
    struct later *first, **last;
};

struct walker {
    struct counter counter;
    struct box box;
    uint32_t *seen_serial; /* by node: the scope that has it, and that scope's depth */
    uint32_t *seen_depth;
    uint32_t *stack; /* by depth: the scopes now open */
    unsigned stack_room;
    uint32_t serials;
};

static void
run_scope(struct walker *walker, const struct scope *parent, const struct later *later,
          struct tally *total);

static bool
is_free_of_charge(const struct expr *e)
{
    if (e->kind <= KIND_INT && !e->loads)
        return true;
    return expr_is_constant(e) && e->op != OP_REDUCE;
}

/* Whether the node is already evaluated where this scope stands; marks it if not. */
static bool
is_seen(struct walker *walker, const struct scope *scope, const struct expr *e)
{
    uint32_t depth = walker->seen_depth[e->id], serial = walker->seen_serial[e->id];
    if (serial != 0 && depth <= scope->depth && walker->stack[depth] == serial)
        return true;
    walker->seen_depth[e->id] = scope->depth;
    walker->seen_serial[e->id] = scope->serial;
    return false;
}

static struct later *
defer(struct walker *walker, struct scope *scope, const struct expr *e, const struct cond *conds)
{
    struct later *later = arena_alloc(walker->counter.arena, sizeof *later);
    later->e = e;
    later->conds = conds;
    *scope->last = later;
    scope->last = &later->next;
    return later;
}

/* e is evaluated only where `cond` has this truth value. */
static void
defer_under(struct walker *walker, struct scope *scope, const struct expr *e,
            const struct expr *cond, bool want)
{
    if (is_free_of_charge(e))
        return;
    const struct cond *conds = scope->conds;
    if (cost__of_indices(cond))
        conds = cost__hold(&walker->counter, conds, cond, want);
    defer(walker, scope, e, conds);
}

static void
defer_branches(struct walker *walker, struct scope *scope, const struct expr *e)
{
    if (cost__of_indices(e->args[0])) {
        defer_under(walker, scope, e->args[1], e->args[0], true);
        defer_under(walker, scope, e->args[2], e->args[0], false);
        return;
    }
    struct later *later = defer(walker, scope, e->args[1], scope->conds);
    later->what = LATER_DEARER;
    later->other = e->args[2];
}

/* The default of a load is evaluated where some subscript is outside. */
static void
defer_default(struct walker *walker, struct scope *scope, const struct expr *load)
{
    const struct expr *instead = expr_default(load);
    if (instead == NULL || is_free_of_charge(instead))
        return;
    const struct cond *inside = NULL, *conds = scope->conds;
    bool counted = true;
    for (unsigned d = 0; d < load->tensor->rank && counted; d++) {
        counted = cost__of_indices(load->args[d]);
        inside =
            cost__within(&walker->counter, inside, load->args[d], 0, load->tensor->size[d] - 1);
    }
    if (counted)
        conds = cost__deny(&walker->counter, conds, inside);
    defer(walker, scope, instead, conds);
}

static void
defer_pieces(struct walker *walker, struct scope *scope, const struct expr *cat)
{
    unsigned level = cat->binder->level;
    struct expr *index = arena_alloc(walker->counter.arena, sizeof *index);
    *index = (struct expr){.op = OP_INDEX, .kind = KIND_INT, .free = 1u << level, .level = level};
    int64_t start = 0;
    for (unsigned i = 0; i < cat->binder->count; i++) {
        int64_t end = start + expr_integer(cat->binder->extent[i]);
        if (!is_free_of_charge(cat->args[i]))
            defer(walker, scope, cat->args[i],
                  cost__within(&walker->counter, scope->conds, index, start, end - 1));
        start = end;
    }
}

static void
charge(struct tally *unit, enum op op, int flops)
{
    unit->flops += flops;
    if (op_info[op].apart)
        unit->apart[op] += 1;
}

/* Charges the nodes of one scope and notes the scopes inside it. */
static void
walk(struct walker *walker, struct scope *scope, const struct expr *e)
{
    if (is_free_of_charge(e) || is_seen(walker, scope, e))
        return;
    charge(&scope->unit, e->op, op_info[e->op].flops);
    switch (e->op) {
    case OP_LOAD:
        defer_default(walker, scope, e);
        break;
    case OP_REDUCE:
        if (e->binder->reduction == REDUCE_MEAN)
            charge(&scope->unit, OP_DIV, op_info[OP_DIV].flops);
        defer(walker, scope, e, scope->conds)->what = LATER_REDUCE;
        break;
    case OP_CAT:
        defer_pieces(walker, scope, e);
        break;
    case OP_IF:
        walk(walker, scope, e->args[0]);
        defer_branches(walker, scope, e);
        break;
    case OP_AND:
    case OP_OR:
        walk(walker, scope, e->args[0]);
        defer_under(walker, scope, e->args[1], e->args[0], e->op == OP_AND);
        break;
    default:
        for (unsigned i = 0; i < e->count; i++)
            walk(walker, scope, e->args[i]);
    }
}

static void
add_times(struct tally *total, const struct tally *unit, double points)
{
    total->flops += unit->flops * points;
    for (unsigned op = 0; op < OP_COUNT; op++)
        total->apart[op] += unit->apart[op] * points;
}

static double
weight(const struct tally *tally)
{
    double sum = tally->flops;
    for (unsigned op = 0; op < OP_COUNT; op++)
        sum += tally->apart[op];
    return sum;
}

static void
open_scope(struct walker *walker, struct scope *scope, unsigned depth, unsigned levels,
           const struct cond *conds)
{
    if (depth >= walker->stack_room) {
        unsigned room = 2 * depth + 16;
        walker->stack = arena_grow(walker->counter.arena, walker->stack, walker->stack_room, room,
                                   sizeof *walker->stack);
        walker->stack_room = room;
    }
    walker->stack[depth] = ++walker->serials;
    *scope =
        (struct scope){.depth = depth, .serial = walker->serials, .levels = levels, .conds = conds};
    scope->last = &scope->first;
}

/* Adds what the scope costs, then what the scopes inside it cost. */
static void
settle(struct walker *walker, struct scope *scope, struct tally *total)
{
    if (weight(&scope->unit) > 0) {
        walker->box.count = scope->levels;
        add_times(total, &scope->unit, cost__points(&walker->counter, &walker->box, scope->conds));
    }
    for (const struct later *later = scope->first; later != NULL; later = later->next)
        run_scope(walker, scope, later, total);
}

static void
run_plain(struct walker *walker, const struct scope *parent, const struct expr *e,
          const struct cond *conds, struct tally *total)
{
    struct scope scope;
    open_scope(walker, &scope, parent->depth + 1, parent->levels, conds);
    walk(walker, &scope, e);
    settle(walker, &scope, total);
}

static void
run_dearer(struct walker *walker, const struct scope *parent, const struct later *later,
           struct tally *total)
{
    struct tally one = {0}, two = {0};
    run_plain(walker, parent, later->e, later->conds, &one);
    run_plain(walker, parent, later->other, later->conds, &two);
    add_times(total, weight(&two) > weight(&one) ? &two : &one, 1);
}

/* Products with what lies outside of a tensor, where it is 0, add nothing to a sum. */
static const struct cond *
hold_inside(struct walker *walker, const struct cond *conds, const struct expr *reduce)
{
    const struct expr *loads[MOST_FACTORS];
    size_t count = 0;
    if (reduce->binder->reduction == REDUCE_SUM && reduce->kind >= KIND_REAL)
        count = expr_load_factors(reduce->args[0], loads, MOST_FACTORS);
    for (size_t i = 0; i < count; i++)
        for (unsigned d = 0; d < loads[i]->tensor->rank && expr_is_zero_outside(loads[i]); d++)
            if (cost__of_indices(loads[i]->args[d]))
                conds = cost__within(&walker->counter, conds, loads[i]->args[d], 0,
                                     loads[i]->tensor->size[d] - 1);
    return conds;
}

/* The filter is evaluated for every term, the body for those that pass. */
static void
run_reduce(struct walker *walker, const struct scope *parent, const struct later *later,
           struct tally *total)
{
    const struct expr *filter = expr_filter(later->e);
    const struct cond *conds = later->conds;
    unsigned levels = cost__bind(later->e, &walker->box);
    struct scope terms, body;
    open_scope(walker, &terms, parent->depth + 1, levels, conds);
    if (filter != NULL) {
        walk(walker, &terms, filter);
        conds = cost__hold(&walker->counter, conds, filter, true);
    }
    settle(walker, &terms, total);
    conds = hold_inside(walker, conds, later->e);
    open_scope(walker, &body, parent->depth + 2, levels, conds);
    body.unit.flops = 1;
    walk(walker, &body, later->e->args[0]);
    settle(walker, &body, total);
}

static void
run_scope(struct walker *walker, const struct scope *parent, const struct later *later,
          struct tally *total)
{
    switch (later->what) {
    case LATER_SCOPE:
        run_plain(walker, parent, later->e, later->conds, total);
        break;
    case LATER_DEARER:
        run_dearer(walker, parent, later, total);
        break;
    case LATER_REDUCE:
        run_reduce(walker, parent, later, total);
        break;
    }
}

static void
open_walker(struct walker *walker, struct arena *arena, size_t expr_count)
{
    walker->counter = (struct counter){.arena = arena, .budget = BUDGET, .exact = true};
    walker->seen_serial = arena_array(arena, expr_count, sizeof *walker->seen_serial);
    walker->seen_depth = arena_array(arena, expr_count, sizeof *walker->seen_depth);
}

static void
walk_stage(struct walker *walker, const struct stage *stage, struct tally *total)
{
    memcpy(walker->box.size, stage->tensor->size, sizeof stage->tensor->size);
    struct scope scope;
    open_scope(walker, &scope, 0, stage->tensor->rank, NULL);
    walk(walker, &scope, stage->code);
    settle(walker, &scope, total);
}

bool
cost__flops(const struct program *program, bool only_f64, struct cost *cost)
{
    jmp_buf no_memory;
    struct arena *volatile arena = arena_create();
    if (arena == NULL || setjmp(no_memory) != 0) {
        arena_destroy(arena);
        return false;
    }
    arena_on_no_memory(arena, &no_memory);
    struct walker walker = {0};
    struct tally total = {0};
    open_walker(&walker, arena, program->expr_count);
    for (size_t i = 0; i < program->stage_count; i++)
        if (!only_f64 || program->stages[i].code->kind == KIND_F64)
            walk_stage(&walker, &program->stages[i], &total);
    cost->flops = total.flops;
    memcpy(cost->apart, total.apart, sizeof cost->apart);
    cost->exact = walker.counter.exact && program->foreign == NULL;
    arena_destroy(arena);
    return true;
}

void
lang_cost(const struct program *program, struct cost *cost)
{
    *cost = (struct cost){0};
    if (!cost__flops(program, false, cost) || !cost__bytes(program, cost))
        cost->flops = NAN;
}
