/* Hash-consed expressions: making, folding, values. */
#include "lang/ir_int.h"

#include "base/hash.h"
#include "base/num.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define SUM_STEPS 6 /* (sum + b) + c through two stages; chains of additions may be long */

struct ir {
    struct arena *arena;
    const struct expr **slots;
    size_t capacity, count;
};

struct ir *
ir_create(struct arena *arena)
{
    struct ir *ir = arena_alloc(arena, sizeof *ir);
    ir->arena = arena;
    ir->capacity = 1024;
    ir->slots = arena_array(arena, ir->capacity, sizeof *ir->slots);
    return ir;
}

size_t
ir_count(const struct ir *ir)
{
    return ir->count;
}

struct arena *
ir_arena(const struct ir *ir)
{
    return ir->arena;
}

/* ---- consing ---- */

static uint64_t
hash_node(const struct expr *e)
{
    uint64_t h = hash_mix(e->op * 8u + e->kind, &e->integer, sizeof e->integer);
    if (e->op == OP_REDUCE || e->op == OP_CAT) { /* names are for display: not part of the node */
        const struct binder *binder = e->binder;
        unsigned head[3] = {binder->reduction, binder->level, binder->count};
        h = hash_mix(e->op, head, sizeof head);
        h = hash_mix(h, binder->extent, binder->count * sizeof *binder->extent);
    }
    return e->count ? hash_mix(h, e->args, e->count * sizeof *e->args) : h;
}

static bool
same_binder(const struct binder *a, const struct binder *b)
{
    return a->reduction == b->reduction && a->level == b->level && a->count == b->count &&
           memcmp(a->extent, b->extent, a->count * sizeof *a->extent) == 0;
}

static bool
same_node(const struct expr *a, const struct expr *b)
{
    if (a->op != b->op || a->kind != b->kind || a->count != b->count ||
        (a->count && memcmp(a->args, b->args, a->count * sizeof *a->args) != 0))
        return false;
    if (a->op == OP_REDUCE || a->op == OP_CAT)
        return same_binder(a->binder, b->binder);
    return a->integer == b->integer; /* the union, bit by bit */
}

static size_t
find_slot(const struct ir *ir, const struct expr *e)
{
    size_t slot = hash_node(e) & (ir->capacity - 1);
    while (ir->slots[slot] != NULL && !same_node(ir->slots[slot], e))
        slot = (slot + 1) & (ir->capacity - 1);
    return slot;
}

static void
grow(struct ir *ir)
{
    const struct expr **old = ir->slots;
    size_t old_capacity = ir->capacity;
    ir->capacity *= 2;
    ir->slots = arena_array(ir->arena, ir->capacity, sizeof *ir->slots);
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i] != NULL)
            ir->slots[find_slot(ir, old[i])] = old[i];
}

/* Facts that follow from the arguments. */
static void
measure(struct expr *e)
{
    uint64_t tree = 1;
    for (unsigned i = 0; i < e->count; i++) {
        const struct expr *arg = e->args[i];
        e->free |= arg->free;
        e->loads |= arg->loads;
        tree += arg->tree;
        if (arg->height >= e->height)
            e->height = (uint16_t)(arg->height + (arg->height < UINT16_MAX));
    }
    e->tree = tree > UINT32_MAX ? UINT32_MAX : (uint32_t)tree;
    if (e->op == OP_INDEX)
        e->free |= 1u << e->level;
    if (e->op == OP_LOAD || e->op == OP_REDUCE)
        e->loads = true;
    if (e->op == OP_REDUCE)
        e->free &= ~(((1u << e->binder->count) - 1) << e->binder->level);
    if (e->op == OP_CAT)
        e->free |= 1u << e->binder->level;
    assert(e->op != OP_CAT || e->count == e->binder->count);
}

static const struct expr *
cons(struct ir *ir, struct expr *e, const struct expr *const *args, unsigned count)
{
    e->args = args;
    e->count = (uint16_t)count;
    size_t slot = find_slot(ir, e);
    if (ir->slots[slot] != NULL)
        return ir->slots[slot];
    struct expr *node = arena_alloc(ir->arena, sizeof *node);
    *node = *e;
    node->height = 1;
    node->id = (uint32_t)ir->count++;
    if (count > 0) {
        const struct expr **copy = arena_array(ir->arena, count, sizeof *copy);
        memcpy(copy, args, count * sizeof *copy);
        node->args = copy;
    }
    measure(node);
    ir->slots[slot] = node;
    if (ir->count * 2 > ir->capacity)
        grow(ir);
    return node;
}

static struct expr
node_of(enum op op, enum kind kind)
{
    struct expr e;
    memset(&e, 0, sizeof e); /* the union is compared whole */
    e.op = (uint8_t)op;
    e.kind = (uint8_t)kind;
    return e;
}

const struct expr *
ir_int(struct ir *ir, int64_t value)
{
    struct expr e = node_of(OP_INT, KIND_INT);
    e.integer = value;
    return cons(ir, &e, NULL, 0);
}

const struct expr *
ir_bool(struct ir *ir, bool value)
{
    struct expr e = node_of(OP_INT, KIND_BOOL);
    e.integer = value;
    return cons(ir, &e, NULL, 0);
}

const struct expr *
ir_real(struct ir *ir, double value)
{
    struct expr e = node_of(OP_REAL, KIND_REAL);
    e.real = value;
    return cons(ir, &e, NULL, 0);
}

const struct expr *
ir_index(struct ir *ir, unsigned level)
{
    struct expr e = node_of(OP_INDEX, KIND_INT);
    e.level = level;
    return cons(ir, &e, NULL, 0);
}

const struct expr *
ir_dim(struct ir *ir, const struct dim *dim)
{
    struct expr e = node_of(OP_DIM, KIND_INT);
    e.dim = dim;
    return cons(ir, &e, NULL, 0);
}

const struct expr *
ir_load(struct ir *ir, const struct tensor *tensor, enum kind kind, unsigned rank,
        const struct expr *const *subscripts, const struct expr *otherwise)
{
    const struct expr *args[LANG_MAX_RANK + 1];
    struct expr e = node_of(OP_LOAD, kind);
    if (otherwise != NULL && otherwise->kind > kind && otherwise->kind != KIND_REAL)
        e.kind = otherwise->kind;
    if (otherwise != NULL && otherwise->kind == KIND_REAL && kind < KIND_REAL)
        e.kind = KIND_F32;
    e.tensor = tensor;
    for (unsigned i = 0; i < rank; i++)
        args[i] = subscripts[i];
    args[rank] = otherwise;
    return cons(ir, &e, args, rank + (otherwise != NULL));
}

const struct expr *
ir_reduce(struct ir *ir, const struct binder *binder, const struct expr *body,
          const struct expr *filter)
{
    static const bool gives_index[REDUCE_COUNT] = {[REDUCE_ARGMAX] = true, [REDUCE_ARGMIN] = true};
    enum kind kind = body->kind;
    if (binder->reduction == REDUCE_SUM || binder->reduction == REDUCE_PROD)
        kind = kind == KIND_BOOL ? KIND_INT : kind;
    if (binder->reduction == REDUCE_MEAN && kind < KIND_F32)
        kind = KIND_F32;
    if (kind == KIND_REAL)
        kind = KIND_F32;
    if (gives_index[binder->reduction])
        kind = KIND_INT;
    struct expr e = node_of(OP_REDUCE, kind);
    e.binder = binder;
    const struct expr *args[2] = {body, filter};
    return cons(ir, &e, args, 1 + (filter != NULL && !is_true(filter)));
}

/* The kind in which two values meet. */
static enum kind
join(const struct expr *a, const struct expr *b)
{
    enum kind kind = a->kind > b->kind ? a->kind : b->kind;
    if (kind == KIND_REAL && !(expr_is_constant(a) && expr_is_constant(b)))
        kind = KIND_F32;
    return kind;
}

const struct expr *
ir_cat(struct ir *ir, const struct binder *binder, const struct expr *const *pieces)
{
    struct expr e = node_of(OP_CAT, KIND_BOOL);
    e.binder = binder;
    e.kind = pieces[0]->kind;
    for (unsigned i = 1; i < binder->count; i++) {
        struct expr so_far = e;
        so_far.loads = true;
        e.kind = (uint8_t)join(&so_far, pieces[i]);
    }
    if (e.kind == KIND_REAL)
        e.kind = KIND_F32;
    return cons(ir, &e, pieces, binder->count);
}

const struct expr *
ir_cast(struct ir *ir, enum dtype dtype, const struct expr *value)
{
    enum kind kind = dtype_info[dtype].kind;
    if (value->op == OP_INT && kind == KIND_INT && dtype == DTYPE_I32 &&
        value->integer == (int32_t)value->integer)
        return ir_int(ir, value->integer);
    struct expr e = node_of(OP_CAST, kind);
    e.dtype = dtype;
    return cons(ir, &e, &value, 1);
}

/* ---- integer identities: dims stay symbolic, so x+2-2 must still become x ---- */

/* e = base + offset, `front` if written offset + base. */
static const struct expr *
split_offset(const struct expr *e, int64_t *offset, bool *front)
{
    *front = false;
    *offset = 0;
    if (e->op == OP_ADD && e->args[1]->op == OP_INT) {
        *offset = e->args[1]->integer;
        return e->args[0];
    }
    if (e->op == OP_ADD && e->args[0]->op == OP_INT) {
        *offset = e->args[0]->integer;
        *front = true;
        return e->args[1];
    }
    if (e->op == OP_SUB && e->args[1]->op == OP_INT) {
        *offset = -e->args[1]->integer;
        return e->args[0];
    }
    return e;
}

static const struct expr *
plain_binary(struct ir *ir, enum op op, enum kind kind, const struct expr *a, const struct expr *b)
{
    struct expr e = node_of(op, kind);
    const struct expr *args[2] = {a, b};
    return cons(ir, &e, args, 2);
}

/* x + c with the constants gathered; NULL if there is nothing to gather. */
static const struct expr *
add_constant(struct ir *ir, const struct expr *a, int64_t c)
{
    bool front;
    int64_t offset, total;
    const struct expr *base = split_offset(a, &offset, &front);
    if (!num_add(offset, c, &total))
        return NULL;
    if (total == 0)
        return base;
    if (front)
        return plain_binary(ir, OP_ADD, KIND_INT, ir_int(ir, total), base);
    if (total > 0)
        return plain_binary(ir, OP_ADD, KIND_INT, base, ir_int(ir, total));
    return plain_binary(ir, OP_SUB, KIND_INT, base, ir_int(ir, -total));
}

static const struct expr *
multiply_constant(struct ir *ir, const struct expr *a, int64_t c)
{
    int64_t product;
    if (c == 0)
        return ir_int(ir, 0);
    if (c == 1)
        return a;
    if (a->op == OP_MUL && a->args[1]->op == OP_INT && num_mul(a->args[1]->integer, c, &product))
        return plain_binary(ir, OP_MUL, KIND_INT, a->args[0], ir_int(ir, product));
    return NULL;
}

static const struct expr *
simplify_int(struct ir *ir, enum op op, const struct expr *a, const struct expr *b)
{
    bool right = b->op == OP_INT, left = a->op == OP_INT;
    if (a == b && a->kind <= KIND_INT && is_comparison(op)) /* no NaN among integers */
        return ir_bool(ir, op == OP_EQ || op == OP_LE || op == OP_GE);
    if (a->kind != KIND_INT || b->kind != KIND_INT)
        return NULL;
    switch (op) {
    case OP_ADD:
        if (left && a->integer == 0)
            return b;
        return right ? add_constant(ir, a, b->integer) : NULL;
    case OP_SUB:
        if (a == b)
            return ir_int(ir, 0);
        return right && b->integer != INT64_MIN ? add_constant(ir, a, -b->integer) : NULL;
    case OP_MUL:
        if (left && (a->integer == 0 || a->integer == 1))
            return a->integer ? b : a;
        return right ? multiply_constant(ir, a, b->integer) : NULL;
    case OP_DIV:
        return right && b->integer == 1 ? a : NULL;
    case OP_MOD:
        return right && b->integer == 1 ? ir_int(ir, 0) : NULL;
    default:
        return NULL;
    }
}

/* true && x, false || x and the like */
static const struct expr *
simplify_logic(struct ir *ir, enum op op, const struct expr *a, const struct expr *b)
{
    bool absorbing = op == OP_OR;
    if (op != OP_AND && op != OP_OR)
        return NULL;
    if (a->op == OP_INT)
        return (a->integer != 0) == absorbing ? ir_bool(ir, absorbing)
               : b->kind == KIND_BOOL         ? b
                                              : NULL;
    if (b->op == OP_INT && (b->integer != 0) != absorbing && a->kind == KIND_BOOL)
        return a;
    return NULL;
}

/* ---- operations ---- */

static enum kind
kind_of_binary(enum op op, const struct expr *a, const struct expr *b)
{
    if (is_comparison(op) || op == OP_AND || op == OP_OR)
        return KIND_BOOL;
    enum kind kind = join(a, b);
    if (kind <= KIND_INT)
        kind = op == OP_POW ? (expr_is_constant(a) && expr_is_constant(b) ? KIND_REAL : KIND_F32)
                            : KIND_INT;
    return kind;
}

/* Both numbers: the result as a number, or NULL when it overflows or is no number. */
static const struct expr *
fold_numbers(struct ir *ir, enum op op, enum kind kind, const struct expr *a, const struct expr *b)
{
    bool ints = a->op == OP_INT && (b == NULL || b->op == OP_INT);
    int64_t integer;
    if (ints && kind <= KIND_INT) {
        if (!apply_int(op, a->integer, b ? b->integer : 0, &integer))
            return NULL;
        return kind == KIND_BOOL ? ir_bool(ir, integer != 0) : ir_int(ir, integer);
    }
    double x = expr_real(a), y = b ? expr_real(b) : 0;
    if (is_comparison(op))
        return ir_bool(ir, compare_real(op, x, y));
    if (op == OP_AND || op == OP_OR || op == OP_NOT)
        return NULL;
    double real = apply_real(op, x, y);
    return isnan(real) ? NULL : ir_real(ir, real);
}

const struct expr *
ir_binary(struct ir *ir, enum op op, const struct expr *a, const struct expr *b)
{
    enum kind kind = kind_of_binary(op, a, b);
    const struct expr *folded = NULL;
    if (is_number(a) && is_number(b))
        folded = fold_numbers(ir, op, kind, a, b);
    if (folded == NULL)
        folded = simplify_int(ir, op, a, b);
    if (folded == NULL)
        folded = simplify_logic(ir, op, a, b);
    return folded != NULL ? folded : plain_binary(ir, op, kind, a, b);
}

/* Functions that leave integers alone. */
static bool
is_rounding(enum op op)
{
    return op == OP_FLOOR || op == OP_CEIL || op == OP_ROUND || op == OP_TRUNC;
}

static bool
keeps_integers(enum op op)
{
    return op == OP_NEG || op == OP_ABS || op == OP_SIGN || is_rounding(op);
}

const struct expr *
ir_unary(struct ir *ir, enum op op, const struct expr *a)
{
    enum kind kind = a->kind;
    if (op == OP_NOT)
        kind = KIND_BOOL;
    else if (kind <= KIND_INT)
        kind = keeps_integers(op) ? KIND_INT : expr_is_constant(a) ? KIND_REAL : KIND_F32;
    if (is_rounding(op) && a->kind <= KIND_INT)
        return a;
    if (op == OP_NOT && a->op == OP_NOT && a->args[0]->kind == KIND_BOOL)
        return a->args[0];
    const struct expr *folded = is_number(a) ? fold_numbers(ir, op, kind, a, NULL) : NULL;
    if (folded != NULL)
        return folded;
    struct expr e = node_of(op, kind);
    return cons(ir, &e, &a, 1);
}

/* A value in a wider kind, where a folded `if` would otherwise narrow it. */
static const struct expr *
widened(struct ir *ir, const struct expr *e, enum kind kind)
{
    if (e->kind == kind || kind <= KIND_INT)
        return e;
    if (e->op == OP_INT)
        return ir_real(ir, (double)e->integer);
    if (e->kind == KIND_REAL || kind == KIND_REAL)
        return e;
    return ir_cast(ir, kind == KIND_F64 ? DTYPE_F64 : DTYPE_F32, e);
}

const struct expr *
ir_if(struct ir *ir, const struct expr *condition, const struct expr *a, const struct expr *b)
{
    enum kind kind = join(a, b);
    if (condition->op == OP_INT)
        return widened(ir, condition->integer ? a : b, kind);
    if (a == b)
        return a;
    if (kind == KIND_REAL && !expr_is_constant(condition))
        kind = KIND_F32;
    struct expr e = node_of(OP_IF, kind);
    const struct expr *args[3] = {condition, a, b};
    return cons(ir, &e, args, 3);
}

const struct expr *
ir_with_args(struct ir *ir, const struct expr *e, const struct expr *const *args)
{
    switch (e->op) {
    case OP_INT:
    case OP_REAL:
    case OP_INDEX:
    case OP_DIM:
        return e;
    case OP_LOAD:
        return ir_load(ir, e->tensor, dtype_info[e->tensor->dtype].kind, e->tensor->rank, args,
                       e->count > e->tensor->rank ? args[e->tensor->rank] : NULL);
    case OP_REDUCE:
        return ir_reduce(ir, e->binder, args[0], e->count > 1 ? args[1] : NULL);
    case OP_CAT:
        return ir_cat(ir, e->binder, args);
    case OP_CAST:
        return ir_cast(ir, e->dtype, args[0]);
    case OP_IF:
        return ir_if(ir, args[0], args[1], args[2]);
    default:
        return e->count == 1 ? ir_unary(ir, e->op, args[0])
                             : ir_binary(ir, e->op, args[0], args[1]);
    }
}

const struct expr *
expr_default(const struct expr *load)
{
    assert(load->op == OP_LOAD);
    return load->count > load->tensor->rank ? load->args[load->tensor->rank] : NULL;
}

size_t
expr_load_factors(const struct expr *e, const struct expr **loads, size_t most)
{
    if (e->op == OP_CAST)
        return expr_load_factors(e->args[0], loads, most);
    if (e->op == OP_LOAD && most > 0) {
        loads[0] = e;
        return 1;
    }
    if (e->op != OP_MUL)
        return 0;
    size_t count = expr_load_factors(e->args[0], loads, most);
    return count + expr_load_factors(e->args[1], loads + count, most - count);
}

bool
expr_is_zero_outside(const struct expr *load)
{
    const struct expr *instead = expr_default(load);
    return instead != NULL && expr_is_constant(instead) && instead->kind != KIND_BOOL &&
           expr_real(instead) == 0;
}

const struct expr *
expr_filter(const struct expr *reduce)
{
    assert(reduce->op == OP_REDUCE);
    return reduce->count > 1 ? reduce->args[1] : NULL;
}

int64_t
expr_terms(const struct expr *reduce)
{
    int64_t terms = 1;

    for (unsigned i = 0; i < reduce->binder->count; i++)
        if (!num_mul(terms, expr_integer(reduce->binder->extent[i]), &terms))
            return INT64_MAX;
    return terms;
}

static bool
is_stored_as_is(const struct tensor *tensor, enum kind kind)
{
    return tensor->stage && tensor->dtype == (kind == KIND_F64 ? DTYPE_F64 : DTYPE_F32);
}

static bool
reads(const struct expr *e, const struct tensor *tensor)
{
    return e->op == OP_LOAD && e->tensor == tensor;
}

/* Additions on the way of one element of a scan that is done as a tree, up and down; 0: no scan. */
static int64_t
scan_depth(const struct tensor *tensor)
{
    const struct stage *stage = tensor->stage;
    int64_t depth = 0;

    if (stage->rec < 0 || stage->code->op != OP_ADD ||
        (!reads(stage->code->args[0], tensor) && !reads(stage->code->args[1], tensor)))
        return 0;
    for (int64_t size = tensor->size[stage->carried]; size > 1; size = (size + 1) / 2)
        depth += 2;
    return depth;
}

/* `steps` also ends the walk through a rec block, whose stages read one another. */
static int64_t
sum_terms(const struct expr *e, enum kind kind, unsigned steps)
{
    enum kind own = e->kind == KIND_REAL ? kind : (enum kind)e->kind;

    if (own != kind || steps == 0)
        return 0;
    if (e->op == OP_REDUCE)
        return e->binder->reduction == REDUCE_SUM ? expr_terms(e) : 0;
    if (e->op == OP_LOAD && is_stored_as_is(e->tensor, kind) && scan_depth(e->tensor) > 0)
        return scan_depth(e->tensor);
    if (e->op == OP_LOAD && is_stored_as_is(e->tensor, kind))
        return sum_terms(e->tensor->stage->code, kind, steps - 1);
    if (e->op != OP_ADD && e->op != OP_SUB)
        return 0;
    int64_t a = sum_terms(e->args[0], kind, steps - 1);
    int64_t b = sum_terms(e->args[1], kind, steps - 1);
    return a > b ? a : b;
}

int64_t
expr_sum_terms(const struct expr *e, enum kind kind)
{
    return kind > KIND_INT ? sum_terms(e, kind, SUM_STEPS) : 0;
}
