/* Programs whose sizes are arguments: `code` that holds for every size, and sizes as text.
 *
 * What the ranges of a case decide (ir.h, invariants 4 and 5) is left open: every default stays,
 * and so do all divisions and filters. */
#include "lang/emit_int.h"

#include "lang/make.h"

#include <string.h>

/* ---- the program ---- */

static const struct expr *
leave(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    struct ir *ir = rewrite->ir;
    if (e->count == 0)
        return e;
    switch (e->op) {
    case OP_LOAD:
        return ir_load(ir, e->tensor, dtype_info[e->tensor->dtype].kind, e->tensor->rank, args,
                       e->count > e->tensor->rank ? args[e->tensor->rank] : NULL);
    case OP_REDUCE:
        return ir_reduce(ir, e->binder, args[0], e->count > 1 ? args[1] : NULL);
    case OP_CAT:
        return ir_cat(ir, e->binder, args);
    default:
        return ir_with_args(ir, e, args);
    }
}

struct program *
emit_generalise(struct arena *arena, const struct program *program)
{
    struct program *general = arena_alloc(arena, sizeof *general);
    struct stage *stages = arena_array(arena, program->stage_count, sizeof *stages);
    for (size_t s = 0; s < program->stage_count; s++) {
        struct rewrite rewrite = {
            .ir = program->ir, .leave = leave, .pieces = PIECES_VALUE_TO_GENERAL};
        const struct tensor *tensor = program->stages[s].tensor;
        for (unsigned i = 0; i < tensor->rank; i++)
            rewrite.levels[i] = (struct level){tensor->extent[i], program->stages[s].index[i], 0,
                                               tensor->size[i] - 1};
        stages[s] = program->stages[s];
        stages[s].code = ir_rewrite(&rewrite, stages[s].value);
    }
    *general = *program;
    general->stages = stages;
    general->expr_count = ir_count(program->ir);
    return general;
}

/* ---- sizes ---- */

const char *
emit_dim(struct emitter *em, const struct dim *dim)
{
    return em->general ? emit_text(em, "%s_size", dim->name)
                       : emit_text(em, "%lld", (long long)dim->size);
}

static const char *
whole_text(struct emitter *em, const struct expr *e)
{
    if (e->op == OP_INT)
        return emit_text(em, e->integer < 0 ? "(%lld)" : "%lld", (long long)e->integer);
    if (e->op == OP_DIM)
        return emit_dim(em, e->dim);
    const char *a = whole_text(em, e->args[0]);
    const char *b = e->count > 1 ? whole_text(em, e->args[1]) : "";
    if (e->op == OP_DIV || e->op == OP_MOD)
        return emit_text(em, "floor_%s(%s, %s)", e->op == OP_DIV ? "div" : "mod", a, b);
    if (e->op == OP_IF)
        return emit_text(em, "(%s ? %s : %s)", a, b, whole_text(em, e->args[2]));
    if (op_info[e->op].form == FORM_INFIX)
        return emit_text(em, "(%s %s %s)", a, op_info[e->op].spelling, b);
    if (op_info[e->op].form == FORM_PREFIX)
        return emit_text(em, "(%s%s)", op_info[e->op].spelling, a);
    return emit_text(em, "%s(%s%s%s)", emit_function(em, e->op, KIND_INT), a, *b ? ", " : "", b);
}

const char *
emit_size(struct emitter *em, const struct expr *extent)
{
    return em->general ? whole_text(em, extent)
                       : emit_text(em, "%lld", (long long)expr_integer(extent));
}

const char *
emit_count(struct emitter *em, const struct tensor *tensor)
{
    if (!em->general)
        return emit_text(em, "%lld", (long long)tensor->count);
    const char *text = "";
    for (unsigned d = 0; d < tensor->rank; d++)
        text =
            emit_text(em, "%s%s(size_t)%s", text, d ? " * " : "", emit_size(em, tensor->extent[d]));
    return *text ? text : "1";
}

/* ---- constants ---- */

bool
emit_is_formula(const struct emitter *em, const struct expr *e)
{
    return em->general && e->kind == KIND_REAL && e->count > 0 && expr_is_constant(e);
}

static const char *
real_text(struct emitter *em, const struct expr *e)
{
    if (e->op == OP_REAL)
        return emit_real(em, e->real, KIND_F64);
    if (e->kind <= KIND_INT)
        return emit_text(em, "(double)%s", whole_text(em, e));
    const char *a = e->op == OP_IF ? whole_text(em, e->args[0]) : real_text(em, e->args[0]);
    const char *b = e->count > 1 ? real_text(em, e->args[1]) : "";
    if (e->op == OP_IF)
        return emit_text(em, "(%s ? %s : %s)", a, b, real_text(em, e->args[2]));
    if (op_info[e->op].form == FORM_INFIX)
        return emit_text(em, "(%s %s %s)", a, op_info[e->op].spelling, b);
    if (op_info[e->op].form == FORM_PREFIX)
        return emit_text(em, "(%s%s)", op_info[e->op].spelling, a);
    return emit_text(em, "%s(%s%s%s)", emit_function(em, e->op, KIND_F64), a, *b ? ", " : "", b);
}

const char *
emit_formula(struct emitter *em, const struct expr *e, enum kind kind)
{
    return emit_text(em, kind == KIND_F64 ? "%s" : "(float)%s", real_text(em, e));
}
