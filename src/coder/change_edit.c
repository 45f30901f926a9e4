/* A program being changed: refusals, names, stages put in, code set. */
#include "coder/change_edit_int.h"

#include "base/buf.h"
#include "base/num.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_LISTED 12 /* names in a message */

bool
change__refuse(struct edit *edit, const char *format, ...)
{
    char text[1024];
    va_list args;
    if (edit->why != NULL)
        return false;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    edit->why = arena_strdup(edit->arena, text);
    return false;
}

const char *
change__list(struct edit *edit, const char *const *names, size_t count)
{
    struct buf list = buf_in(edit->arena);
    for (size_t i = 0; i < count && i < MAX_LISTED; i++)
        buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
    if (count > MAX_LISTED)
        buf_puts(&list, ", ...");
    return count > 0 ? list.data : "none";
}

/* ---- names ---- */

struct tensor *
change__find_tensor(const struct program *program, const char *name)
{
    for (size_t i = 0; i < program->tensor_count; i++)
        if (strcmp(program->tensors[i]->name, name) == 0)
            return program->tensors[i];
    return NULL;
}

const char *
change__name(struct edit *edit, const char *suffix)
{
    const char *stage = change__stage(edit)->tensor->name;
    const char *name = arena_printf(edit->arena, "%s.%s", stage, suffix);
    for (unsigned i = 2; change__find_tensor(edit->program, name) != NULL; i++)
        name = arena_printf(edit->arena, "%s.%s.%u", stage, suffix, i);
    return name;
}

static bool
is_taken(const struct stage *stage, unsigned count, const struct expr *reduction, const char *name)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(stage->index[i], name) == 0)
            return true;
    for (unsigned i = 0; reduction != NULL && i < reduction->binder->count; i++)
        if (strcmp(reduction->binder->names[i], name) == 0)
            return true;
    return false;
}

const char *
change__index(struct edit *edit, const struct stage *stage, unsigned count, const struct expr *code,
              const char *wish)
{
    /* Binders of expressions show it too: it lives as long as they do. */
    const struct expr *reduction = code ? change__reduction(edit, code) : NULL;
    const char *name = arena_strdup(ir_arena(edit->ir), wish);
    for (unsigned i = 2; is_taken(stage, count, reduction, name); i++)
        name = arena_printf(ir_arena(edit->ir), "%s%u", wish, i);
    return name;
}

int
change__left(const struct stage *stage, const char *name)
{
    for (unsigned i = 0; i < stage->tensor->rank; i++)
        if (strcmp(stage->index[i], name) == 0)
            return (int)i;
    return -1;
}

/* ---- stages put in ---- */

struct tensor *
change__tensor(struct edit *edit, const struct tensor *shape)
{
    struct tensor *tensor = arena_alloc(edit->arena, sizeof *tensor);
    *tensor = (struct tensor){.name = shape->name,
                              .dtype = shape->dtype,
                              .rank = shape->rank,
                              .count = 1,
                              .input = -1,
                              .output = -1};
    for (unsigned i = 0; i < shape->rank; i++) {
        tensor->size[i] = shape->size[i];
        tensor->extent[i] = ir_int(edit->ir, shape->size[i]);
        tensor->count *= shape->size[i];
    }
    return tensor;
}

static void
add_tensor(struct edit *edit, struct tensor *tensor)
{
    struct program *program = edit->program;
    program->tensors = arena_grow(edit->arena, program->tensors, program->tensor_count,
                                  program->tensor_count + 1, sizeof *program->tensors);
    tensor->number = (unsigned)program->tensor_count;
    program->tensors[program->tensor_count++] = tensor;
}

struct stage *
change__insert(struct edit *edit, size_t before, const struct stage *stage)
{
    struct program *program = edit->program;
    size_t count = program->stage_count;
    assert(before <= edit->at);
    program->stages =
        arena_grow(edit->arena, program->stages, count, count + 1, sizeof *program->stages);
    memmove(&program->stages[before + 1], &program->stages[before],
            (count - before) * sizeof *program->stages);
    program->stages[before] = *stage;
    program->stage_count++;
    edit->at++;
    add_tensor(edit, stage->tensor);
    for (size_t i = 0; i <= count; i++)
        program->stages[i].tensor->stage = &program->stages[i];
    return &program->stages[before];
}

/* ---- code ---- */

static const struct expr *
leave_guarding(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    struct ir *ir = rewrite->ir;
    if (e->op != OP_LOAD || expr_default(e) != NULL)
        return ir_with_args(ir, e, args);
    const struct tensor *tensor = e->tensor;
    enum kind kind = dtype_info[tensor->dtype].kind;
    const struct expr *fill = NULL;
    for (unsigned i = 0; i < tensor->rank && fill == NULL; i++) {
        int64_t low, high;
        expr_interval(args[i], rewrite->levels, &low, &high);
        if (low < 0 || high >= tensor->size[i])
            fill = kind == KIND_BOOL ? ir_bool(ir, false) : ir_int(ir, 0);
    }
    return ir_load(ir, tensor, kind, tensor->rank, args, fill);
}

static const struct expr *
leave_alone(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    return ir_with_args(rewrite->ir, e, args);
}

/* In `value` the pieces of a cat count from their own start. */
static const struct expr *
leave_valuing(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    struct ir *ir = rewrite->ir;
    if (e->op != OP_CAT)
        return ir_with_args(ir, e, args);
    const struct expr **pieces = arena_array(ir_arena(ir), e->count, sizeof *pieces);
    int64_t start = 0;
    for (unsigned i = 0; i < e->count; i++) {
        struct rewrite shift = {.ir = ir, .leave = leave_alone, .pieces = PIECES_CODE};
        shift.replace[e->binder->level] =
            ir_binary(ir, OP_ADD, ir_index(ir, e->binder->level), ir_int(ir, start));
        pieces[i] = ir_rewrite(&shift, args[i]);
        start += expr_integer(e->binder->extent[i]);
    }
    return ir_cat(ir, e->binder, pieces);
}

static bool
reads_itself(struct edit *edit, const struct stage *stage)
{
    return change__reads_any(edit, stage->code, stage->tensor);
}

/* What an integer stage can hold: as the language finds it, or its dtype's whole range. */
static void
set_range(struct edit *edit, const struct stage *stage)
{
    struct tensor *tensor = stage->tensor;
    if (dtype_is_float(tensor->dtype))
        return;
    int64_t top = (int64_t)dtype_info[tensor->dtype].largest;
    int64_t bottom = tensor->dtype == DTYPE_U8 || tensor->dtype == DTYPE_BOOL ? 0 : -top - 1;
    struct level levels[LANG_MAX_LEVELS];
    change__levels(stage, levels);
    expr_interval(stage->code, levels, &tensor->low, &tensor->high);
    if (tensor->low < bottom || tensor->high > top || reads_itself(edit, stage) ||
        change__cuts(edit, stage->code, -1)) {
        tensor->low = bottom;
        tensor->high = top;
    }
}

void
change__set_code(struct edit *edit, struct stage *stage, const struct expr *code)
{
    struct rewrite guard = {.ir = edit->ir, .leave = leave_guarding, .pieces = PIECES_CODE};
    struct rewrite value = {.ir = edit->ir, .leave = leave_valuing, .pieces = PIECES_CODE};
    change__levels(stage, guard.levels);
    stage->code = ir_rewrite(&guard, ir_simplify(edit->ir, code, guard.levels));
    stage->value = stage->code;
    if (change__cuts(edit, stage->code, -1))
        stage->value = ir_rewrite(&value, stage->code);
    if (stage != change__stage(edit)) /* S holds what it held */
        set_range(edit, stage);
}

/* A subscript that is a sum, with its constants and equal terms gathered. */
static const struct expr *
gathered(struct ir *ir, const struct expr *e)
{
    struct sum sum;
    bool is_sum = e->op == OP_ADD || e->op == OP_SUB || e->op == OP_MUL;
    return is_sum && change__sum(e, &sum) ? change__expr(ir, &sum) : e;
}

const struct expr *
change__load(struct edit *edit, const struct tensor *tensor, const struct expr *const *subscripts,
             const struct expr *otherwise)
{
    const struct expr *args[LANG_MAX_RANK];
    for (unsigned i = 0; i < tensor->rank; i++)
        args[i] = gathered(edit->ir, subscripts[i]);
    return ir_load(edit->ir, tensor, dtype_info[tensor->dtype].kind, tensor->rank, args, otherwise);
}

enum dtype
change__dtype(enum kind kind)
{
    static const enum dtype dtypes[] = {[KIND_BOOL] = DTYPE_BOOL,
                                        [KIND_INT] = DTYPE_I32,
                                        [KIND_REAL] = DTYPE_F32,
                                        [KIND_F32] = DTYPE_F32,
                                        [KIND_F64] = DTYPE_F64};
    return dtypes[kind];
}
