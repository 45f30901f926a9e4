/* chunk S t STEP: a scan in three stages of which two have more to do at a time.
 *
 *     Y[r,t] = Y[r,t-1 | d] + X[r,t]                                  T = 1000, STEP = 256
 *     Y.t[r,tc:4,t:256]  = Y.t[r,tc,t-1 | 0] + X[r,tc*256+t | 0]      scan per chunk
 *     Y.t.end[r,tc:3]    = Y.t.end[r,tc-1 | d] + Y.t[r,tc,255]        scan of the chunks' ends
 *     Y[r,t]             = Y.t.end[r,t/256-1 | d] + Y.t[r,t/256,t%256]
 *
 * for + * min max, whose neutral element takes the place of 0. What X is read at decides whether
 * the scan is exclusive, reversed or masked; nothing of that matters here. Elements past the end of
 * the last chunk are computed from fillers and read by nobody. */
#include "coder/change_edit_int.h"

#include <math.h>

struct scan {
    struct edit *edit;
    const struct expr *self;  /* Y[.., t-1, ..| d] */
    const struct expr *body;  /* what is combined with it */
    const struct expr *start; /* d at t = 0 */
    unsigned t;               /* the carried level */
    bool self_first;          /* Y[..] + X, not X + Y[..] */
    int64_t step, chunks;
    const char *chunk;
    enum dtype dtype; /* of the new stages */
};

static const struct expr *
combine(const struct scan *scan, const struct expr *before, const struct expr *body)
{
    enum op op = change__stage(scan->edit)->code->op;
    return ir_binary(scan->edit->ir, op, scan->self_first ? before : body,
                     scan->self_first ? body : before);
}

static const struct expr *
neutral(const struct scan *scan)
{
    struct ir *ir = scan->edit->ir;
    bool whole = scan->dtype == DTYPE_I32;
    switch (change__stage(scan->edit)->code->op) {
    case OP_ADD:
        return ir_int(ir, 0);
    case OP_MUL:
        return ir_int(ir, 1);
    case OP_MAX:
        return whole ? ir_int(ir, INT32_MIN) : ir_real(ir, -INFINITY);
    default:
        return whole ? ir_int(ir, INT32_MAX) : ir_real(ir, INFINITY);
    }
}

/* ---- what a scan is ---- */

/* Y[.., t-1, ..] of the stage itself, other subscripts plain. */
static bool
is_previous(const struct scan *scan, const struct expr *e)
{
    const struct tensor *tensor = change__stage(scan->edit)->tensor;
    if (e->op != OP_LOAD || e->tensor != tensor || expr_default(e) == NULL)
        return false;
    for (unsigned d = 0; d < tensor->rank; d++) {
        int64_t coefficient[LANG_MAX_LEVELS], constant;
        if (!expr_affine(e->args[d], coefficient, &constant) || e->args[d]->free != 1u << d ||
            coefficient[d] != 1 || constant != (d == scan->t ? -1 : 0))
            return false;
    }
    return true;
}

static bool
reads_self(struct edit *edit, const struct expr *e)
{
    return change__reads_any(edit, e, change__stage(edit)->tensor);
}

static bool
find_scan(struct scan *scan)
{
    struct edit *edit = scan->edit;
    const struct stage *stage = change__stage(edit);
    const struct expr *code = stage->code;
    const char *name = stage->tensor->name;
    if (stage->rec < 0)
        return change__refuse(edit, "%s is no scan: it does not read itself one step before", name);
    scan->t = stage->carried;
    int level = change__left(stage, edit->line->name);
    if (level != (int)scan->t)
        return change__refuse(edit, "%s is not the index that %s is carried along; that is %s",
                              edit->line->name, name, stage->index[scan->t]);
    if (edit->program->recs[stage->rec].count > 1)
        return change__refuse(edit,
                              "%s is one of several stages of a rec block; only a stage that "
                              "is a scan by itself can be cut in chunks",
                              name);
    bool combines =
        code->op == OP_ADD || code->op == OP_MUL || code->op == OP_MIN || code->op == OP_MAX;
    for (unsigned i = 0; combines && i < 2; i++)
        if (is_previous(scan, code->args[i]) && !reads_self(edit, code->args[1 - i])) {
            scan->self = code->args[i];
            scan->body = code->args[1 - i];
            scan->self_first = i == 0;
            return true;
        }
    return change__refuse(edit,
                          "%s is no scan of + * min or max, the previous element with one "
                          "that does not depend on it",
                          name);
}

static bool
check_step(struct scan *scan)
{
    struct edit *edit = scan->edit;
    const struct tensor *tensor = change__stage(edit)->tensor;
    const struct expr *reduce = change__reduction(edit, scan->body);
    int64_t size = tensor->size[scan->t];
    scan->step = edit->line->step;
    if (scan->step < 2 || scan->step >= size)
        return change__refuse(edit,
                              "%lld does not split %s, which has %lld values; a step from 2 "
                              "to %lld does",
                              (long long)scan->step, edit->line->name, (long long)size,
                              (long long)(size - 1));
    unsigned levels = tensor->rank + 1 + (reduce ? reduce->binder->count : 0);
    if (tensor->rank == LANG_MAX_RANK || levels > LANG_MAX_LEVELS)
        return change__refuse(edit, "%s has %u indices already; a chunk would be one too many",
                              tensor->name, levels - 1);
    if (change__cuts(edit, scan->body, (int)scan->t))
        return change__refuse(edit,
                              "%s is cut by a cat in %s; only an index that runs through can "
                              "be chunked",
                              edit->line->name, tensor->name);
    scan->chunks = (size + scan->step - 1) / scan->step;
    return true;
}

/* Sums and products of integers may wrap at any time: the result is the same. Extremes may not. */
static bool
check_type(struct scan *scan)
{
    struct edit *edit = scan->edit;
    const struct stage *stage = change__stage(edit);
    enum dtype dtype = stage->tensor->dtype;
    scan->dtype = change__dtype(stage->code->kind);
    if (dtype == DTYPE_BOOL)
        return change__refuse(edit, "%s is bool; scans of numbers can be cut in chunks",
                              stage->tensor->name);
    if (dtype_is_float(dtype) || stage->code->op == OP_ADD || stage->code->op == OP_MUL)
        return true;
    struct level levels[LANG_MAX_LEVELS];
    int64_t low, high, a, b, top = (int64_t)dtype_info[dtype].largest;
    change__levels(stage, levels);
    expr_interval(scan->body, levels, &low, &high);
    expr_interval(scan->start, levels, &a, &b);
    low = a < low ? a : low;
    high = b > high ? b : high;
    if (low >= (dtype == DTYPE_U8 ? 0 : -top - 1) && high <= top)
        return true;
    return change__refuse(edit, "%s is %s and its terms may leave that type; a wider one is legal",
                          stage->tensor->name, dtype_info[dtype].name);
}

/* ---- the three stages ---- */

/* Subscripts of S's other indices; `first` and, if the tensor has one more, `second` for t. */
static const struct expr *
read_at(const struct scan *scan, const struct tensor *tensor, const struct expr *first,
        const struct expr *second, const struct expr *otherwise)
{
    const struct expr *subscripts[LANG_MAX_RANK];
    unsigned count = 0;
    for (unsigned l = 0; l < change__stage(scan->edit)->tensor->rank; l++) {
        subscripts[count++] = l == scan->t ? first : ir_index(scan->edit->ir, l);
        if (l == scan->t && second != NULL)
            subscripts[count++] = second;
    }
    return change__load(scan->edit, tensor, subscripts, otherwise);
}

/* A rec of its own, as a rule, with the indices of S; for t stand tc, or tc and t. */
static struct stage
open_stage(const struct scan *scan, const char *name, int64_t chunks, bool inner)
{
    const struct stage *whole = change__stage(scan->edit);
    const struct tensor *of = whole->tensor;
    struct tensor shape = {.name = name, .dtype = scan->dtype};
    struct stage stage = {.carried = scan->t + inner};
    stage.rec = (int)(scan->edit->program->rec_count + inner);
    for (unsigned l = 0; l < of->rank; l++) {
        bool cut = l == scan->t;
        shape.size[shape.rank] = cut ? chunks : of->size[l];
        stage.index[shape.rank++] = cut ? scan->chunk : whole->index[l];
        if (!cut || !inner)
            continue;
        shape.size[shape.rank] = scan->step;
        stage.index[shape.rank++] = whole->index[l];
    }
    stage.tensor = change__tensor(scan->edit, &shape);
    return stage;
}

static struct tensor *
put_chunks(const struct scan *scan, const char *name)
{
    struct edit *edit = scan->edit;
    struct ir *ir = edit->ir;
    const struct stage *whole = change__stage(edit);
    unsigned rank = whole->tensor->rank;
    struct stage stage = open_stage(scan, name, scan->chunks, true);
    const struct expr *subscripts[LANG_MAX_RANK];
    struct move move;
    change__begin_move(edit, &move, whole->code, rank + 1);
    for (unsigned l = 0; l < rank; l++)
        move.rewrite.replace[l] = ir_index(ir, l + (l > scan->t));
    move.rewrite.replace[scan->t] =
        ir_binary(ir, OP_ADD, ir_binary(ir, OP_MUL, ir_index(ir, scan->t), ir_int(ir, scan->step)),
                  ir_index(ir, scan->t + 1));
    for (unsigned l = 0; l <= rank; l++)
        subscripts[l] = ir_binary(ir, OP_SUB, ir_index(ir, l), ir_int(ir, l == scan->t + 1));
    const struct expr *before = change__load(edit, stage.tensor, subscripts, neutral(scan));
    const struct expr *code = combine(scan, before, change__move(&move, scan->body));
    struct stage *put = change__insert(edit, edit->at, &stage);
    change__set_code(edit, put, code);
    return put->tensor;
}

static struct tensor *
put_ends(const struct scan *scan, const char *name, const struct tensor *chunks)
{
    struct edit *edit = scan->edit;
    struct ir *ir = edit->ir;
    const struct expr *tc = ir_index(ir, scan->t);
    struct stage stage = open_stage(scan, name, scan->chunks - 1, false);
    const struct expr *before =
        read_at(scan, stage.tensor, ir_binary(ir, OP_SUB, tc, ir_int(ir, 1)), NULL, scan->start);
    if (scan->chunks == 2) { /* one end is no scan */
        before = scan->start;
        stage.rec = -1;
        stage.carried = 0;
    }
    const struct expr *end = read_at(scan, chunks, tc, ir_int(ir, scan->step - 1), NULL);
    const struct expr *code = combine(scan, before, end);
    struct stage *put = change__insert(edit, edit->at, &stage);
    change__set_code(edit, put, code);
    return put->tensor;
}

/* d at t = 0, the only step at which it is taken. */
static const struct expr *
start_of(const struct scan *scan)
{
    struct edit *edit = scan->edit;
    const struct stage *stage = change__stage(edit);
    struct level levels[LANG_MAX_LEVELS];
    struct move move;
    change__begin_move(edit, &move, stage->code, stage->tensor->rank);
    move.rewrite.replace[scan->t] = ir_int(edit->ir, 0);
    change__levels(stage, levels);
    return ir_simplify(edit->ir, change__move(&move, expr_default(scan->self)), levels);
}

bool
change__chunk(struct edit *edit)
{
    struct scan scan = {.edit = edit};
    struct ir *ir = edit->ir;
    if (!find_scan(&scan) || !check_step(&scan))
        return false;
    scan.start = start_of(&scan);
    if (reads_self(edit, scan.start) || change__reduction(edit, scan.start) != NULL ||
        change__cuts(edit, expr_default(scan.self), (int)scan.t))
        return change__refuse(edit,
                              "%s starts from more than an element or a number; compute its "
                              "first value in a stage of its own",
                              change__stage(edit)->tensor->name);
    if (!check_type(&scan))
        return false;
    struct stage *stage = change__stage(edit);
    scan.chunk = change__index(edit, stage, stage->tensor->rank, stage->code,
                               arena_printf(edit->arena, "%sc", edit->line->name));
    const char *name = change__name(edit, edit->line->name);
    struct tensor *chunks = put_chunks(&scan, name);
    struct tensor *ends = put_ends(&scan, arena_printf(edit->arena, "%s.end", name), chunks);
    const struct expr *t = ir_index(ir, scan.t), *step = ir_int(ir, scan.step);
    const struct expr *tc = ir_binary(ir, OP_DIV, t, step);
    const struct expr *before =
        read_at(&scan, ends, ir_binary(ir, OP_SUB, tc, ir_int(ir, 1)), NULL, scan.start);
    const struct expr *own = read_at(&scan, chunks, tc, ir_binary(ir, OP_MOD, t, step), NULL);
    stage = change__stage(edit);
    stage->rec = -1;
    stage->carried = 0;
    change__set_code(edit, stage, combine(&scan, before, own));
    return true;
}
