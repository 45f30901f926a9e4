/* The interpreter: the definition of the language.
 *
 * Each stage's code is evaluated for every element by walking the expression; the arithmetic is
 * that of rules_int.h. What can be said for its speed is that a shared node is computed once: a
 * node's value is kept with the time it was found, and holds until one of the indices it depends on
 * moves.
 *
 * Intermediate tensors live in an arena of their own that is dropped at the end; results live in
 * the caller's.
 */
#include "base/arena.h"
#include "lang/lang.h"
#include "lang/rules_int.h"

#include <assert.h>
#include <math.h>

struct cells { /* a tensor that has been or is being computed */
    double *v, *g, *c;
};

struct memo {
    uint64_t time; /* 0: never */
    struct val value;
};

struct interp {
    const struct program *program;
    const void *const *inputs;
    struct cells *cells; /* by tensor number; inputs have none */
    struct memo *memo;   /* two for each expression: constants may be met in f32 and in f64 */
    int64_t index[LANG_MAX_LEVELS];
    uint64_t moved[LANG_MAX_LEVELS]; /* when each index last changed */
    uint64_t started;                /* when the present element was begun */
    uint64_t clock;
    bool few; /* elements of the present stage */
    struct arena *scratch;
    struct val *terms; /* of the last argmax or argmin */
    int64_t term_room;
};

static struct val
eval(struct interp *it, const struct expr *e, enum kind met);

static void
set_index(struct interp *it, unsigned level, int64_t value)
{
    it->index[level] = value;
    it->moved[level] = ++it->clock;
}

/* ---- nodes ---- */

/* Argument `number` of e as an operand in arithmetic of this kind. */
static struct val
operand(struct interp *it, const struct expr *e, unsigned number, enum kind kind)
{
    const struct expr *arg = e->args[number];

    return val_convert(eval(it, arg, kind), arg->kind, kind);
}

/* Comparisons compute with the wider of their operands. */
static enum kind
common_kind(const struct expr *a, const struct expr *b)
{
    enum kind kind = a->kind > b->kind ? a->kind : b->kind;

    return kind == KIND_REAL ? KIND_F32 : kind;
}

static struct val
tensor_element(const struct interp *it, const struct tensor *tensor, int64_t at)
{
    if (tensor->input >= 0)
        return val_input(tensor->dtype, it->inputs[tensor->input], at);
    const struct cells *cells = &it->cells[tensor->number];
    struct val a = {.v = cells->v[at], .g = cells->g[at], .c = cells->c[at]};
    if (!dtype_is_float(tensor->dtype))
        a.i = (int64_t)a.v;
    return a;
}

/* Where a load reads, or -1 if some subscript is outside. `sure`: all subscripts are decided. */
static int64_t
load_place(struct interp *it, const struct expr *load, bool *sure)
{
    const struct tensor *tensor = load->tensor;
    int64_t at = 0;
    bool inside = true;

    *sure = true;
    for (unsigned d = 0; d < tensor->rank; d++) {
        struct val s = eval(it, load->args[d], KIND_F32);
        *sure = *sure && val_decided(s);
        inside = inside && s.i >= 0 && s.i < tensor->size[d];
        at = inside ? at * tensor->size[d] + s.i : 0;
    }
    return inside ? at : -1;
}

static struct val
eval_load(struct interp *it, const struct expr *e, enum kind kind)
{
    const struct expr *otherwise = expr_default(e);
    bool sure;
    int64_t at = load_place(it, e, &sure);
    struct val a = val_unjudged(NAN); /* an input's subscript that is not in its domain */

    if (at >= 0)
        a = val_convert(tensor_element(it, e->tensor, at), dtype_info[e->tensor->dtype].kind, kind);
    else if (otherwise)
        a = operand(it, e, e->tensor->rank, kind);
    if (!sure) /* decision 3 */
        a.g = NAN, a.c = INFINITY;
    return a;
}

static struct val
eval_if(struct interp *it, const struct expr *e, enum kind kind)
{
    struct val condition = eval(it, e->args[0], KIND_F32);
    unsigned taken = condition.i ? 1 : 2;
    struct val a = operand(it, e, taken, kind);

    if (val_decided(condition))
        return a;
    return val_either(condition, a, operand(it, e, 3 - taken, kind), kind);
}

/* The right side is looked at only if the left one does not decide. */
static struct val
eval_logic(struct interp *it, const struct expr *e)
{
    struct val a = eval(it, e->args[0], KIND_F32);

    if (val_decided(a) && (a.i != 0) == (e->op == OP_OR))
        return a;
    struct val b = eval(it, e->args[1], KIND_F32);
    return e->op == OP_OR ? val_or(a, b) : val_and(a, b);
}

static struct val
eval_cat(struct interp *it, const struct expr *e, enum kind kind)
{
    int64_t at = it->index[e->binder->level];
    unsigned piece = 0;

    for (; piece + 1 < e->binder->count; piece++) {
        int64_t extent = expr_integer(e->binder->extent[piece]);
        if (at < extent)
            break;
        at -= extent;
    }
    return operand(it, e, piece, kind);
}

static void
reduce_one(struct interp *it, const struct expr *e, struct val_reduction *r, enum kind kind)
{
    const struct expr *filter = expr_filter(e);
    struct val keep = filter ? eval(it, filter, KIND_F32) : val_integer(1);

    if (keep.i)
        val_term(r, operand(it, e, 0, kind));
    else
        val_drop(r);
    if (!val_decided(keep))
        val_doubt(r);
}

/* Index number `depth` of the reduction and those inside it. */
static void
reduce_loops(struct interp *it, const struct expr *e, unsigned depth, struct val_reduction *r,
             enum kind kind)
{
    if (depth == e->binder->count) {
        reduce_one(it, e, r, kind);
        return;
    }
    int64_t extent = expr_integer(e->binder->extent[depth]);
    for (int64_t i = 0; i < extent; i++) {
        set_index(it, e->binder->level + depth, i);
        reduce_loops(it, e, depth + 1, r, kind);
    }
}

/* What the terms are computed in: those of argmax are floats though its result is not. */
static enum kind
term_kind(const struct expr *e, enum kind kind)
{
    if (e->binder->reduction < REDUCE_ARGMAX)
        return kind;
    return common_kind(e->args[0], e->args[0]);
}

static struct val
eval_reduce(struct interp *it, const struct expr *e, enum kind kind)
{
    struct val_reduction r;
    int64_t extent = expr_integer(e->binder->extent[0]);

    if (e->binder->reduction >= REDUCE_ARGMAX && extent > it->term_room) {
        it->terms = arena_array(it->scratch, (size_t)extent, sizeof *it->terms);
        it->term_room = extent;
    }
    kind = term_kind(e, kind);
    val_begin(&r, e->binder->reduction, kind, it->terms);
    r.few = it->few;
    reduce_loops(it, e, 0, &r, kind);
    return val_end(&r);
}

static struct val
eval_compare(struct interp *it, const struct expr *e)
{
    enum kind kind = common_kind(e->args[0], e->args[1]);
    struct val a = operand(it, e, 0, kind), b = operand(it, e, 1, kind);

    return val_compare(e->op, a, b, kind);
}

static struct val
eval_sum(const struct expr *e, struct val a, struct val b, enum kind kind)
{
    int64_t m = expr_sum_terms(e->args[0], kind), n = expr_sum_terms(e->args[1], kind);

    return val_add_sums(a, m, e->op == OP_SUB ? val_neg(b) : b, n, kind);
}

static struct val
eval_two(struct interp *it, const struct expr *e, enum kind kind)
{
    struct val a = operand(it, e, 0, kind), b = operand(it, e, 1, kind);

    switch (e->op) {
    case OP_ADD:
    case OP_SUB:
        return eval_sum(e, a, b, kind);
    case OP_MUL:
        return val_mul(a, b, kind);
    case OP_DIV:
        return val_div(a, b, kind);
    case OP_MOD:
        return val_mod(a, b);
    case OP_POW:
        return val_pow(a, b, kind);
    default:
        return val_extreme(e->op, a, b, kind);
    }
}

/* The value of a cast where it stands: the kind of its dtype, f16 and bf16 computing as f32. */
static struct val
eval_cast(struct interp *it, const struct expr *e)
{
    enum kind kind = common_kind(e->args[0], e->args[0]);

    return val_store(e->dtype, eval(it, e->args[0], kind), kind);
}

static struct val
eval_fresh(struct interp *it, const struct expr *e, enum kind kind)
{
    switch (e->op) {
    case OP_INT:
        return val_integer(e->integer);
    case OP_REAL:
        return val_real(e->real, kind);
    case OP_INDEX:
        return val_integer(it->index[e->level]);
    case OP_DIM:
        return val_integer(e->dim->size);
    case OP_LOAD:
        return eval_load(it, e, kind);
    case OP_REDUCE:
        return eval_reduce(it, e, kind);
    case OP_CAT:
        return eval_cat(it, e, kind);
    case OP_CAST:
        return eval_cast(it, e);
    case OP_IF:
        return eval_if(it, e, kind);
    case OP_NEG:
        return val_neg(operand(it, e, 0, kind));
    case OP_ABS:
        return val_abs(operand(it, e, 0, kind));
    case OP_NOT:
        return val_not(eval(it, e->args[0], KIND_F32));
    case OP_OR:
    case OP_AND:
        return eval_logic(it, e);
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
    case OP_EQ:
    case OP_NE:
        return eval_compare(it, e);
    default:
        return e->count == 2 ? eval_two(it, e, kind)
                             : val_function(e->op, operand(it, e, 0, kind), kind);
    }
}

/* Whether what was found at `time` still holds: the element is the same, and no index that occurs
 * in e has moved since. */
static bool
still_holds(const struct interp *it, const struct expr *e, uint64_t time)
{
    if (time < it->started)
        return false;
    for (uint32_t free = e->free; free; free &= free - 1)
        if (it->moved[__builtin_ctz(free)] > time)
            return false;
    return true;
}

/* `met` is the float kind that a constant expression adapts to. */
static struct val
eval(struct interp *it, const struct expr *e, enum kind met)
{
    enum kind kind = e->kind == KIND_REAL ? (met == KIND_F64 ? KIND_F64 : KIND_F32) : e->kind;
    struct memo *memo = &it->memo[2 * e->id + (kind == KIND_F64)];

    if (!still_holds(it, e, memo->time)) {
        memo->value = eval_fresh(it, e, kind);
        memo->time = ++it->clock;
    }
    return memo->value;
}

/* ---- stages ---- */

/* An output that is an argmax or argmin shows what was compared. */
static bool
shows_terms(const struct tensor *tensor)
{
    const struct expr *code = tensor->stage ? tensor->stage->code : NULL;

    return tensor->output >= 0 && code && code->op == OP_REDUCE &&
           code->binder->reduction >= REDUCE_ARGMAX;
}

static void
record_terms(const struct interp *it, const struct lang_result *result, int64_t at)
{
    for (int64_t k = 0; k < result->terms; k++) {
        result->term_v[at * result->terms + k] = it->terms[k].v;
        result->term_g[at * result->terms + k] = it->terms[k].g;
        result->term_c[at * result->terms + k] = it->terms[k].c;
    }
}

static void
store_element(struct interp *it, const struct stage *stage, int64_t at,
              const struct lang_result *results)
{
    const struct tensor *tensor = stage->tensor;
    const struct cells *cells = &it->cells[tensor->number];
    enum kind kind = common_kind(stage->code, stage->code);

    it->started = ++it->clock;
    it->few = tensor_is_few(tensor);
    struct val a = val_store(tensor->dtype, eval(it, stage->code, kind), kind);
    cells->v[at] = a.v;
    cells->g[at] = a.g;
    cells->c[at] = a.c;
    if (shows_terms(tensor))
        record_terms(it, &results[tensor->output], at);
}

/* Left index number `depth` and those inside it. `step` pins the carried index, -1: none. */
static void
stage_loops(struct interp *it, const struct stage *stage, unsigned depth, int64_t at, int64_t step,
            const struct lang_result *results)
{
    if (depth == stage->tensor->rank) {
        store_element(it, stage, at, results);
        return;
    }
    int64_t size = stage->tensor->size[depth];
    bool pinned = step >= 0 && depth == stage->carried;
    for (int64_t i = pinned ? step : 0; i < (pinned ? step + 1 : size); i++) {
        set_index(it, depth, i);
        stage_loops(it, stage, depth + 1, at * size + i, step, results);
    }
}

static void
run_rec(struct interp *it, const struct rec *rec, const struct lang_result *results)
{
    for (int64_t t = 0; t < rec->size; t++)
        for (size_t s = rec->first; s < rec->first + rec->count; s++)
            stage_loops(it, &it->program->stages[s], 0, 0, t, results);
}

static void
run_stages(struct interp *it, const struct lang_result *results)
{
    const struct program *program = it->program;
    size_t s = 0;

    while (s < program->stage_count) {
        const struct stage *stage = &program->stages[s];
        if (stage->rec < 0) {
            stage_loops(it, stage, 0, 0, -1, results);
            s++;
        } else {
            const struct rec *rec = &program->recs[stage->rec];
            assert(rec->first == s); /* ir.h, invariant 3 */
            run_rec(it, rec, results);
            s += rec->count;
        }
    }
}

/* ---- memory ---- */

static struct cells
new_cells(struct arena *arena, int64_t count)
{
    struct cells cells;

    cells.v = arena_array(arena, (size_t)count, sizeof *cells.v);
    cells.g = arena_array(arena, (size_t)count, sizeof *cells.g);
    cells.c = arena_array(arena, (size_t)count, sizeof *cells.c);
    return cells;
}

static void
prepare_results(struct arena *arena, const struct program *program, struct lang_result *results)
{
    for (size_t o = 0; o < program->output_count; o++) {
        const struct tensor *tensor = program->outputs[o];
        struct cells cells = new_cells(arena, tensor->count);
        results[o] =
            (struct lang_result){.tensor = tensor, .v = cells.v, .g = cells.g, .c = cells.c};
        if (!shows_terms(tensor))
            continue;
        int64_t terms = expr_integer(tensor->stage->code->binder->extent[0]);
        struct cells compared = new_cells(arena, tensor->count * terms);
        results[o].terms = terms;
        results[o].term_v = compared.v;
        results[o].term_g = compared.g;
        results[o].term_c = compared.c;
    }
}

/* An output's arrays serve as its cells; other stages get their own. */
static void
prepare_cells(struct interp *it, const struct lang_result *results)
{
    const struct program *program = it->program;

    it->cells = arena_array(it->scratch, program->tensor_count, sizeof *it->cells);
    for (size_t s = 0; s < program->stage_count; s++) {
        const struct tensor *tensor = program->stages[s].tensor;
        const struct lang_result *result = tensor->output < 0 ? NULL : &results[tensor->output];
        it->cells[tensor->number] = result ? (struct cells){result->v, result->g, result->c}
                                           : new_cells(it->scratch, tensor->count);
    }
}

enum status
lang_interpret(struct arena *arena, const struct program *program, const void *const *inputs,
               struct lang_result *results)
{
    struct interp it = {.program = program, .inputs = inputs, .clock = 1};
    struct arena *scratch;
    jmp_buf no_memory;

    if (program->foreign)
        return STATUS_INPUT;
    prepare_results(arena, program, results); /* first: it may jump out of here */
    scratch = it.scratch = arena_create();
    if (!scratch)
        return STATUS_MACHINE;
    if (setjmp(no_memory)) {
        arena_destroy(scratch);
        return STATUS_MACHINE;
    }
    arena_on_no_memory(scratch, &no_memory);
    prepare_cells(&it, results);
    it.memo = arena_array(scratch, 2 * program->expr_count, sizeof *it.memo);
    run_stages(&it, results);
    arena_destroy(scratch);
    return STATUS_OK;
}
