/* What is known before anything runs: intervals of integers, and which values are exact. */
#include "lang/emit_int.h"

#include "base/num.h"

#include <assert.h>

/* Beyond this an interval says nothing; sums and products of two such ends do not overflow. */
#define FAR ((int64_t)1 << 53)

static const struct interval anything = {-FAR, FAR};

static int64_t
within(int64_t x)
{
    return x < -FAR ? -FAR : x > FAR ? FAR : x;
}

static struct interval
range(int64_t low, int64_t high)
{
    return (struct interval){within(low), within(high)};
}

static int64_t
lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t
greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static struct interval
hull(struct interval a, struct interval b)
{
    return (struct interval){lesser(a.low, b.low), greater(a.high, b.high)};
}

static struct interval
product(struct interval a, struct interval b)
{
    int64_t ends[4] = {0};
    struct interval all = anything;
    bool fits = num_mul(a.low, b.low, &ends[0]) && num_mul(a.low, b.high, &ends[1]) &&
                num_mul(a.high, b.low, &ends[2]) && num_mul(a.high, b.high, &ends[3]);

    if (!fits)
        return anything;
    all.low = lesser(lesser(ends[0], ends[1]), lesser(ends[2], ends[3]));
    all.high = greater(greater(ends[0], ends[1]), greater(ends[2], ends[3]));
    return range(all.low, all.high);
}

static struct interval
quotient(struct interval a, struct interval b)
{
    if (b.low <= 0)
        return anything;
    return range(lesser(num_floor_div(a.low, b.low), num_floor_div(a.low, b.high)),
                 greater(num_floor_div(a.high, b.low), num_floor_div(a.high, b.high)));
}

static struct interval
remainder_of(struct interval a, struct interval b)
{
    if (b.low <= 0)
        return anything;
    if (a.low >= 0 && a.high < b.low)
        return a;
    return range(0, b.high - 1);
}

static struct interval
cast_interval(enum dtype dtype, struct interval a, bool whole)
{
    struct interval all;

    switch (dtype) {
    case DTYPE_I8:
        all = range(-128, 127);
        break;
    case DTYPE_U8:
        all = range(0, 255);
        break;
    case DTYPE_BOOL:
        all = range(0, 1);
        break;
    default:
        all = range(INT32_MIN, INT32_MAX);
    }
    return whole && a.low >= all.low && a.high <= all.high ? a : all;
}

/* The last argument of many operations; CAT's and IF's branches together. */
static struct interval
hull_of(const struct emitter *em, const struct expr *e, unsigned from)
{
    struct interval all = emit_interval(em, e->args[from]);

    for (unsigned i = from + 1; i < e->count; i++)
        all = hull(all, emit_interval(em, e->args[i]));
    return all;
}

static struct interval
reduce_interval(const struct emitter *em, const struct expr *e)
{
    int64_t terms = expr_terms(e);
    enum reduction reduction = e->binder->reduction;

    if (reduction >= REDUCE_ARGMAX)
        return range(-1, terms - 1);
    if (reduction == REDUCE_SUM && terms < FAR)
        return product(hull(emit_interval(em, e->args[0]), range(0, 0)), range(0, terms));
    return anything;
}

static struct interval
operation_interval(const struct expr *e, struct interval a, struct interval b)
{
    switch (e->op) {
    case OP_CAST:
        return cast_interval(e->dtype, a, e->args[0]->kind <= KIND_INT);
    case OP_NEG:
        return range(-a.high, -a.low);
    case OP_ADD:
        return range(a.low + b.low, a.high + b.high);
    case OP_SUB:
        return range(a.low - b.high, a.high - b.low);
    case OP_MUL:
        return product(a, b);
    case OP_DIV:
        return quotient(a, b);
    case OP_MOD:
        return remainder_of(a, b);
    case OP_MIN:
        return range(lesser(a.low, b.low), lesser(a.high, b.high));
    case OP_MAX:
        return range(greater(a.low, b.low), greater(a.high, b.high));
    case OP_ABS:
        return range(a.low > 0 ? a.low : a.high < 0 ? -a.high : 0, greater(a.high, -a.low));
    case OP_SIGN:
        return range(-1, 1);
    default:
        return anything;
    }
}

static struct interval
find_interval(const struct emitter *em, const struct expr *e)
{
    switch (e->op) {
    case OP_INT:
        return range(e->integer, e->integer);
    case OP_DIM:
        return em->general ? range(1, FAR) : range(e->dim->size, e->dim->size);
    case OP_INDEX:
        return range(0, em->general ? FAR : em->extent[e->level] - 1);
    case OP_LOAD: {
        struct interval all = range(e->tensor->low, e->tensor->high);
        const struct expr *otherwise = expr_default(e);
        return otherwise ? hull(all, emit_interval(em, otherwise)) : all;
    }
    case OP_REDUCE:
        return reduce_interval(em, e);
    case OP_CAT:
        return hull_of(em, e, 0);
    case OP_IF:
        return hull_of(em, e, 1);
    default:
        return operation_interval(e, emit_interval(em, e->args[0]),
                                  emit_interval(em, e->args[e->count - 1]));
    }
}

struct interval
emit_interval(const struct emitter *em, const struct expr *e)
{
    struct node *node = &em->nodes[emit_key(e, KIND_F32)];

    if (e->kind > KIND_INT)
        return anything;
    if (e->kind == KIND_BOOL && e->op != OP_INT)
        return range(0, 1);
    if (node->measured != em->stage_stamp) {
        node->measured = em->stage_stamp;
        node->range = find_interval(em, e);
    }
    return node->range;
}

/* The float kind of two operands that meet in a comparison. */
static enum kind
common_kind(const struct expr *a, const struct expr *b)
{
    enum kind kind = (enum kind)(a->kind > b->kind ? a->kind : b->kind);

    return kind == KIND_REAL ? KIND_F32 : kind;
}

enum kind
emit_met(const struct expr *e, unsigned i, enum kind kind)
{
    const struct expr *a = e->args[i];
    bool whole = false;

    if (e->op == OP_LOAD)
        whole = i < e->tensor->rank;
    if (e->op == OP_IF)
        whole = i == 0;
    if (e->op == OP_REDUCE)
        whole = i == 1;
    if (whole || e->op == OP_NOT || e->op == OP_AND || e->op == OP_OR)
        return (enum kind)a->kind;
    if (e->op >= OP_LT && e->op <= OP_NE)
        return common_kind(e->args[0], e->args[1]);
    if (e->op == OP_CAST || (e->op == OP_REDUCE && e->binder->reduction >= REDUCE_ARGMAX))
        return common_kind(a, a);
    return kind;
}

/* ---- exactness ---- */

static bool
holds_integers(struct interval a, enum kind kind)
{
    int64_t most = kind == KIND_F64 ? FAR - 1 : (int64_t)1 << 24;

    return a.low >= -most && a.high <= most;
}

static bool
all_exact(const struct emitter *em, const struct expr *e, enum kind kind)
{
    for (unsigned i = 0; i < e->count; i++)
        if (!emit_is_exact(em, e->args[i], emit_met(e, i, kind)))
            return false;
    return true;
}

static bool
load_is_exact(const struct emitter *em, const struct expr *e, enum kind kind)
{
    const struct tensor *tensor = e->tensor;
    bool kept = tensor->stage ? em->exact[tensor->number]
                              : !(em->options.denormals && dtype_is_float(tensor->dtype));

    if (!dtype_is_float(tensor->dtype) && kind > KIND_INT)
        kept = kept && holds_integers(range(tensor->low, tensor->high), kind);
    return kept && all_exact(em, e, kind);
}

static bool
cast_is_exact(const struct emitter *em, const struct expr *e)
{
    const struct expr *a = e->args[0];

    if (!all_exact(em, e, KIND_F32))
        return false;
    if (!dtype_is_float(e->dtype)) /* a float may lie outside of the integer's range */
        return a->kind <= KIND_INT || e->dtype == DTYPE_BOOL;
    if (a->kind <= KIND_INT)
        return e->dtype <= DTYPE_F32 &&
               holds_integers(emit_interval(em, a), dtype_info[e->dtype].kind);
    return e->dtype == DTYPE_F64 || (e->dtype == DTYPE_F32 && a->kind != KIND_F64);
}

static bool
rounds(const struct expr *e)
{
    switch (e->op) {
    case OP_REDUCE:
        return e->binder->reduction <= REDUCE_PROD;
    case OP_NEG:
    case OP_ABS:
    case OP_MIN:
    case OP_MAX:
    case OP_IF:
    case OP_CAT:
    case OP_SIGN:
    case OP_FLOOR:
    case OP_CEIL:
    case OP_ROUND:
    case OP_TRUNC:
        return false;
    default:
        return true;
    }
}

static bool
node_is_exact(const struct emitter *em, const struct expr *e, enum kind kind)
{
    switch (e->op) {
    case OP_INT:
    case OP_DIM:
    case OP_INDEX:
        return true;
    case OP_REAL: /* a NaN has no error, but what is compared with it is unjudged */
        return e->real == e->real && (kind == KIND_F64 || (double)(float)e->real == e->real);
    case OP_LOAD:
        return load_is_exact(em, e, kind);
    case OP_CAST:
        return cast_is_exact(em, e);
    case OP_DIV:
    case OP_MOD:
        return kind <= KIND_INT && all_exact(em, e, kind) && emit_interval(em, e->args[1]).low > 0;
    case OP_NOT:
    case OP_OR:
    case OP_AND:
        return all_exact(em, e, kind);
    default:
        return (kind <= KIND_INT || !rounds(e)) && all_exact(em, e, kind);
    }
}

bool
emit_is_exact(const struct emitter *em, const struct expr *e, enum kind kind)
{
    if (!em->bounds)
        return true;
    if (e->kind <= KIND_INT && kind > KIND_INT && !holds_integers(emit_interval(em, e), kind))
        return false;
    struct node *node = &em->nodes[emit_key(e, kind)];
    if (node->known != em->stage_stamp) {
        node->known = em->stage_stamp;
        node->exact = node_is_exact(em, e, emit_kind(e, kind));
    }
    return node->exact;
}

/* What storing adds: a narrower dtype rounds. */
static bool
store_is_exact(const struct emitter *em, const struct stage *stage)
{
    enum dtype dtype = stage->tensor->dtype;
    const struct expr *e = stage->code;
    enum kind kind = common_kind(e, e);

    if (dtype_is_float(dtype) && kind <= KIND_INT)
        kind = dtype_info[dtype].kind;
    if (!emit_is_exact(em, e, kind))
        return false;
    if (!dtype_is_float(dtype))
        return kind <= KIND_INT;
    return dtype == DTYPE_F64 || (dtype == DTYPE_F32 && kind != KIND_F64);
}

/* The tensors of a rec block read one another: all are inexact as soon as one is. */
static void
find_exact_block(struct emitter *em, const struct rec *rec)
{
    const struct stage *stages = em->program->stages + rec->first;
    bool exact = true;

    for (size_t i = 0; i < rec->count; i++)
        em->exact[stages[i].tensor->number] = true;
    for (size_t i = 0; i < rec->count && exact; i++) {
        emit_enter(em, rec->first + i);
        exact = store_is_exact(em, &stages[i]);
    }
    for (size_t i = 0; i < rec->count; i++)
        em->exact[stages[i].tensor->number] = exact;
}

void
emit_find_exact(struct emitter *em)
{
    const struct program *program = em->program;

    for (size_t s = 0; s < program->stage_count; s++) {
        const struct stage *stage = &program->stages[s];
        if (stage->rec >= 0) {
            const struct rec *rec = &program->recs[stage->rec];
            find_exact_block(em, rec);
            s = rec->first + rec->count - 1;
            continue;
        }
        emit_enter(em, s);
        em->exact[stage->tensor->number] = store_is_exact(em, stage);
    }
}

/* ---- work ---- */

static double
work_of(struct emitter *em, const struct expr *e)
{
    struct node *node = &em->nodes[emit_key(e, KIND_F32)];
    double work = op_info[e->op].apart ? 20 : e->kind > KIND_INT ? 4 : 1;

    if (node->counted == em->stage_stamp)
        return 0;
    node->counted = em->stage_stamp;
    for (unsigned i = 0; i < e->count; i++)
        work += work_of(em, e->args[i]);
    return e->op == OP_REDUCE ? work * (double)expr_terms(e) : work;
}

double
emit_work(struct emitter *em)
{
    return work_of(em, em->stage->code);
}
