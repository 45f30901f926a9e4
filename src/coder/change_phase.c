/* phase S X: inner loops of stride 1 where S reads X with a stride, forward or backward.
 *
 * Forward (strided convolution, pooling): X[.., y*st+r] of S, y a left index, r anything that is no
 * left index. X is stored by the remainder of its subscript:
 *
 *     S.X[.., yp:st, y] = X[.., y*st+yp]          S reads S.X[.., r%st, y + r/st]
 *
 * Every dimension in which all reads of X have left indices with a common stride above 1 is stored
 * so; the remainders of all of them stand before the first one, so that the quotients stay side by
 * side (`flat` may follow). Defaults stay with the reads, and fill what is added at the end.
 *
 * Backward (transposed convolution, nearest upsampling): X[.., (y+pd-r)/st] of S, in a reduction
 * that is filtered by (y+pd-r)%st == 0 or in none. Here the result is computed by the remainder of
 * y and put together by S:
 *
 *     S.X[.., yp:st, y] = what S was with y*st+yp for y     reads X[.., y + (yp+pd-r)/st], filter
 *                                                           (yp+pd-r)%st == 0, free of y
 *     S[.., y]          = S.X[.., y%st, y/st]
 *
 * so that for each yp, which a schedule unrolls with r, the filter is decided and the loop over y
 * runs with stride 1. If the filter speaks of remainders, the indices in them are the ones split;
 * otherwise all left indices that subscripts of X divide. Forward is tried first unless there is
 * such a filter. */
#include "coder/change_edit_int.h"

#include "base/num.h"

#include <string.h>

#define MAX_STRIDE 64 /* more phases than that are no loop to unroll */

static bool
is_left(const struct edit *edit, const struct expr *e)
{
    return e->op == OP_INDEX && e->level < change__stage(edit)->tensor->rank;
}

static uint32_t
left_levels(const struct edit *edit)
{
    return (1u << change__stage(edit)->tensor->rank) - 1;
}

/* ---- forward ---- */

struct forward {
    struct edit *edit;
    const struct tensor *old, *stored;
    int64_t stride[LANG_MAX_RANK]; /* of each dimension: 0 no left index, 1 and -1 not phased */
    unsigned first;                /* the first phased dimension */
    unsigned phases;
};

/* Takes in the stride with which one subscript moves with the left indices. */
static void
take_stride(struct forward *forward, const struct expr *subscript, int64_t *stride)
{
    struct sum sum;
    if (!change__sum(subscript, &sum)) {
        *stride = 1;
        return;
    }
    for (unsigned i = 0; i < sum.count; i++) {
        if (is_left(forward->edit, sum.terms[i].atom))
            *stride = num_common_divisor(*stride, sum.terms[i].factor);
        else if (sum.terms[i].atom->free & left_levels(forward->edit))
            *stride = 1;
    }
}

static void
take_strides(struct visit *visit, const struct expr *load, const struct level *levels)
{
    struct forward *forward = visit->context;
    (void)levels;
    for (unsigned d = 0; load->tensor == forward->old && d < load->tensor->rank; d++)
        take_stride(forward, load->args[d], &forward->stride[d]);
}

/* The dimensions to store by phase, from the last one, as many as a tensor may have more. */
static void
choose_dimensions(struct forward *forward)
{
    const struct tensor *old = forward->old;
    for (unsigned d = old->rank; d-- > 0;) {
        int64_t stride = forward->stride[d];
        bool phased = stride > 1 && stride <= MAX_STRIDE && stride < old->size[d] &&
                      old->rank + forward->phases < LANG_MAX_RANK;
        if (!phased) {
            forward->stride[d] = 0;
            continue;
        }
        forward->first = d;
        forward->phases++;
    }
}

static const struct expr *
move_load(struct move *move, const struct expr *load, const struct expr *const *args)
{
    const struct forward *forward = move->context;
    const struct expr *subscripts[LANG_MAX_RANK];
    struct ir *ir = move->rewrite.ir;
    unsigned rank = forward->old->rank, phase = forward->first;
    if (load->tensor != forward->old)
        return NULL;
    for (unsigned d = 0; d < rank; d++) {
        int64_t stride = forward->stride[d];
        unsigned to = d + (d >= forward->first ? forward->phases : 0);
        subscripts[to] = stride ? change__quotient(ir, args[d], stride) : args[d];
        if (stride)
            subscripts[phase++] = change__remainder(ir, args[d], stride);
    }
    return change__load(forward->edit, forward->stored, subscripts,
                        load->count > rank ? args[rank] : NULL);
}

static void
lay_out(const struct forward *forward, struct layout *layout)
{
    struct edit *edit = forward->edit;
    struct ir *ir = edit->ir;
    const struct tensor *old = forward->old;
    const char *names[LANG_MAX_RANK];
    struct stage made = {0};
    unsigned phase = forward->first;
    change__dimension_names(edit, old, names);
    memcpy(made.index, names, sizeof made.index);
    layout->rank = old->rank + forward->phases;
    for (unsigned d = 0; d < old->rank; d++) {
        int64_t stride = forward->stride[d];
        unsigned to = d + (d >= forward->first ? forward->phases : 0);
        layout->index[to] = names[d];
        layout->size[to] = stride ? (old->size[d] + stride - 1) / stride : old->size[d];
        layout->from[d] = ir_index(ir, to);
        if (stride == 0)
            continue;
        layout->size[phase] = stride;
        layout->index[phase] =
            change__index(edit, &made, old->rank, NULL, arena_printf(edit->arena, "%sp", names[d]));
        layout->from[d] =
            ir_binary(ir, OP_ADD, ir_binary(ir, OP_MUL, ir_index(ir, to), ir_int(ir, stride)),
                      ir_index(ir, phase));
        phase++;
    }
}

static bool
store_by_phase(struct forward *forward, struct tensor *tensor)
{
    struct edit *edit = forward->edit;
    struct layout layout = {0};
    struct reads reads = {0};
    struct move move;
    if (!change__reads(edit, tensor, &reads))
        return false;
    lay_out(forward, &layout);
    layout.fill = reads.fill;
    forward->stored = change__store_as(edit, tensor, &layout, true);
    if (forward->stored == NULL)
        return false;
    struct stage *stage = change__stage(edit);
    change__begin_move(edit, &move, stage->code, stage->tensor->rank);
    move.load = move_load;
    move.context = forward;
    change__set_code(edit, stage, change__move(&move, stage->code));
    return true;
}

/* ---- backward ---- */

struct backward {
    struct edit *edit;
    const struct tensor *tensor;
    uint32_t filtered;               /* left indices in remainders of the filter */
    uint32_t divided;                /* left indices in quotients of subscripts of X */
    int64_t stride[LANG_MAX_LEVELS]; /* of each left index; 1: stays */
};

/* Left indices in e/step or e%step, with a factor that the step does not divide. */
static uint32_t
divided_levels(const struct edit *edit, const struct expr *e)
{
    uint32_t levels = 0;
    struct sum sum;
    if (e->args[1]->op != OP_INT || e->args[1]->integer < 2 || !change__sum(e->args[0], &sum))
        return 0;
    for (unsigned i = 0; i < sum.count; i++)
        if (is_left(edit, sum.terms[i].atom) && sum.terms[i].factor % e->args[1]->integer != 0)
            levels |= 1u << sum.terms[i].atom->level;
    return levels;
}

static void
take_filter(struct backward *backward, const struct expr *e)
{
    if (e->op == OP_MOD && e->kind == KIND_INT)
        backward->filtered |= divided_levels(backward->edit, e);
    for (unsigned i = 0; e->op != OP_LOAD && i < e->count; i++)
        take_filter(backward, e->args[i]);
}

static void
take_subscript(struct backward *backward, const struct expr *e)
{
    uint32_t levels =
        e->op == OP_DIV && e->kind == KIND_INT ? divided_levels(backward->edit, e) : 0;
    backward->divided |= levels;
    for (; levels; levels &= levels - 1) {
        int64_t *stride = &backward->stride[__builtin_ctz(levels)], step = e->args[1]->integer;
        if (*stride <= MAX_STRIDE && step <= MAX_STRIDE)
            *stride = *stride / num_common_divisor(*stride, step) * step;
        else
            *stride = MAX_STRIDE + 1;
    }
    for (unsigned i = 0; e->op != OP_LOAD && i < e->count; i++)
        take_subscript(backward, e->args[i]);
}

static void
take_subscripts(struct visit *visit, const struct expr *load, const struct level *levels)
{
    struct backward *backward = visit->context;
    (void)levels;
    for (unsigned d = 0; load->tensor == backward->tensor && d < load->tensor->rank; d++)
        take_subscript(backward, load->args[d]);
}

static void
look_backward(struct backward *backward)
{
    struct edit *edit = backward->edit;
    const struct stage *stage = change__stage(edit);
    struct visit visit = {edit, take_subscripts, backward};
    const struct expr *reduce = change__reduction(edit, stage->code);
    for (unsigned l = 0; l < LANG_MAX_LEVELS; l++)
        backward->stride[l] = 1;
    change__visit(&visit, stage->code);
    if (reduce != NULL && expr_filter(reduce) != NULL && expr_filter(reduce)->tree < 2000)
        take_filter(backward, expr_filter(reduce));
    backward->filtered &= backward->divided;
    if (backward->filtered != 0)
        backward->divided = backward->filtered;
    for (unsigned l = 0; l < LANG_MAX_LEVELS; l++)
        if (!(backward->divided >> l & 1))
            backward->stride[l] = 1;
}

static bool
check_backward(const struct backward *backward)
{
    struct edit *edit = backward->edit;
    const struct stage *stage = change__stage(edit);
    const struct expr *reduce = change__reduction(edit, stage->code);
    unsigned rank = stage->tensor->rank + (unsigned)__builtin_popcount(backward->divided);
    if (stage->rec >= 0)
        return change__refuse(edit,
                              "%s is part of a rec block, which is computed step by step; a "
                              "stage outside of one is legal",
                              stage->tensor->name);
    if (rank > LANG_MAX_RANK || rank + (reduce ? reduce->binder->count : 0) > LANG_MAX_LEVELS)
        return change__refuse(edit, "%s would have %u indices by phase; at most %d are allowed",
                              stage->tensor->name, rank, LANG_MAX_RANK);
    for (unsigned l = 0; l < stage->tensor->rank; l++) {
        if (backward->stride[l] > MAX_STRIDE)
            return change__refuse(edit,
                                  "%s divides %s by more than %d; there would be as many "
                                  "phases",
                                  stage->tensor->name, stage->index[l], MAX_STRIDE);
        if (backward->stride[l] > 1 && change__cuts(edit, stage->code, (int)l))
            return change__refuse(edit,
                                  "%s is cut by a cat in %s; only an index that runs through "
                                  "has phases",
                                  stage->index[l], stage->tensor->name);
    }
    return true;
}

/* S.X: all of S's code with y*st+yp for y; the phases stand before the first index that has one.
 * subscripts[] is where S finds its element. */
static struct tensor *
put_phases(const struct backward *backward, const struct expr **subscripts)
{
    struct edit *edit = backward->edit;
    struct ir *ir = edit->ir;
    const struct stage *whole = change__stage(edit);
    const struct tensor *of = whole->tensor;
    unsigned phases = (unsigned)__builtin_popcount(backward->divided);
    unsigned first = (unsigned)__builtin_ctz(backward->divided), phase = first;
    struct tensor shape = {.dtype = of->dtype, .rank = of->rank + phases};
    struct stage stage = {.rec = -1};
    struct move move;
    shape.name = change__name(edit, edit->line->name);
    change__begin_move(edit, &move, whole->code, shape.rank);
    move.divides = true;
    for (unsigned l = 0; l < of->rank; l++) {
        int64_t stride = backward->stride[l];
        unsigned to = l + (l >= first ? phases : 0);
        const struct expr *old = ir_index(ir, l), *step = ir_int(ir, stride);
        stage.index[to] = whole->index[l];
        shape.size[to] = (of->size[l] + stride - 1) / stride;
        move.rewrite.replace[l] = ir_index(ir, to);
        subscripts[to] = ir_binary(ir, OP_DIV, old, step);
        if (stride == 1)
            continue;
        stage.index[phase] = change__index(edit, whole, of->rank, whole->code,
                                           arena_printf(edit->arena, "%sp", whole->index[l]));
        shape.size[phase] = stride;
        subscripts[phase] = ir_binary(ir, OP_MOD, old, step);
        move.rewrite.replace[l] = ir_binary(
            ir, OP_ADD, ir_binary(ir, OP_MUL, ir_index(ir, to), step), ir_index(ir, phase));
        phase++;
    }
    const struct expr *code = change__move(&move, whole->code);
    stage.tensor = change__tensor(edit, &shape);
    struct stage *put = change__insert(edit, edit->at, &stage);
    change__set_code(edit, put, code);
    return put->tensor;
}

static bool
compute_by_phase(const struct backward *backward)
{
    struct edit *edit = backward->edit;
    const struct expr *subscripts[LANG_MAX_RANK];
    if (!check_backward(backward))
        return false;
    const struct tensor *phases = put_phases(backward, subscripts);
    change__set_code(edit, change__stage(edit), change__load(edit, phases, subscripts, NULL));
    return true;
}

bool
change__phase(struct edit *edit)
{
    struct tensor *tensor = change__source(edit, edit->line->name);
    struct forward forward = {.edit = edit, .old = tensor};
    struct backward backward = {.edit = edit, .tensor = tensor};
    struct visit visit = {edit, take_strides, &forward};
    if (tensor == NULL)
        return false;
    look_backward(&backward);
    if (backward.filtered != 0)
        return compute_by_phase(&backward);
    change__visit(&visit, change__stage(edit)->code);
    choose_dimensions(&forward);
    if (forward.phases > 0)
        return store_by_phase(&forward, tensor);
    if (backward.divided != 0)
        return compute_by_phase(&backward);
    return change__refuse(edit,
                          "%s is read in %s with stride 1 or none; a tensor read at y*2+r or "
                          "at y/2, y a left index, has phases",
                          tensor->name, change__stage(edit)->tensor->name);
}
