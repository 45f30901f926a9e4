/* split S k STEP: S.k[kc, ..] = the reduction over chunk kc of k, S = what combines the chunks, in
 * order, with S's own epilogue around it.
 *
 *     Y[j] = relu(sum[k](A[k,j]))      K = 1000, STEP = 512
 *     Y.k[kc:2,j] = sum[k:512 ? kc*512+k < 1000](A[kc*512+k,j | 0])
 *     Y[j]        = relu(sum[kc](Y.k[kc,j]))
 *
 * The chunk is the first index: chunks are computed by different threads, which then write apart,
 * and the loops over the others keep their stride. Partials have the accumulator's type, so nothing
 * is rounded that was not before. A mean is split as a sum and divided by all its terms at the end.
 *
 * argmax and argmin take three stages: S.k, the place in each chunk; S.k.best, the value there;
 * S.k.chunk, which chunk has the best of those. The first among equals wins at each, so the
 * smallest index does. */
#include "coder/change_split_int.h"

#include <string.h>

/* The names of the reduction are those of `value`: it is what people see. */
static bool
find_index(struct edit *edit, struct split *split)
{
    const struct stage *stage = change__stage(edit);
    const struct expr *shown = change__reduction(edit, stage->value);
    const char *name = edit->line->name, *own = stage->tensor->name;
    split->reduce = change__reduction(edit, stage->code);
    if (split->reduce == NULL || shown == NULL)
        return change__refuse(edit, "%s has no reduction, so no index of it can be split", own);
    const struct binder *binder = shown->binder;
    for (unsigned i = 0; i < binder->count; i++)
        if (strcmp(binder->names[i], name) == 0) {
            split->number = i;
            return true;
        }
    return change__refuse(edit, "%s is no reduction index of %s; those are %s", name, own,
                          change__list(edit, binder->names, binder->count));
}

static bool
check_step(struct edit *edit, struct split *split)
{
    const struct binder *binder = split->reduce->binder;
    const struct stage *stage = change__stage(edit);
    int64_t extent = expr_integer(binder->extent[split->number]);
    split->step = edit->line->step;
    if (split->step < 1 || split->step >= extent)
        return change__refuse(edit,
                              "%lld does not split %s, which has %lld values; a step from 1 "
                              "to %lld does",
                              (long long)split->step, edit->line->name, (long long)extent,
                              (long long)(extent - 1));
    if (stage->tensor->rank == LANG_MAX_RANK)
        return change__refuse(edit, "%s has %d indices already; a chunk would be one too many",
                              stage->tensor->name, LANG_MAX_RANK);
    if (stage->tensor->rank + 1 + binder->count > LANG_MAX_LEVELS)
        return change__refuse(edit,
                              "%s has %d indices already, with those of the reduction; a "
                              "chunk would be one too many",
                              stage->tensor->name, LANG_MAX_LEVELS);
    if (binder->reduction == REDUCE_MEAN && expr_filter(split->reduce) != NULL)
        return change__refuse(edit,
                              "%s is a filtered mean of %s, whose terms are not counted; "
                              "write it as a sum divided by a sum",
                              stage->tensor->name, edit->line->name);
    if (binder->reduction >= REDUCE_ARGMAX && expr_filter(split->reduce) != NULL)
        return change__refuse(edit,
                              "%s is a filtered %s, in which a chunk may be empty; only one "
                              "without a filter can be split",
                              stage->tensor->name, reduction_name[binder->reduction]);
    split->chunks = (extent + split->step - 1) / split->step;
    return true;
}

/* kc*STEP + k, over the indices of S.k. */
static const struct expr *
whole_index(const struct split *split)
{
    struct ir *ir = split->edit->ir;
    unsigned rank = change__stage(split->edit)->tensor->rank;
    return ir_binary(ir, OP_ADD, ir_binary(ir, OP_MUL, ir_index(ir, 0), ir_int(ir, split->step)),
                     ir_index(ir, rank + 1 + split->number));
}

const struct expr *
change__split_moved(const struct split *split, const struct expr *e)
{
    struct edit *edit = split->edit;
    const struct stage *stage = change__stage(edit);
    unsigned rank = stage->tensor->rank;
    struct move move;
    change__begin_move(edit, &move, stage->code, rank + 1);
    for (unsigned l = 0; l < rank; l++)
        move.rewrite.replace[l] = ir_index(edit->ir, l + 1);
    move.rewrite.replace[split->reduce->binder->level + split->number] = whole_index(split);
    return change__move(&move, e);
}

/* The filter of S.k: S's own, and the end of the last chunk. */
static void
move_filter(struct split *split)
{
    struct ir *ir = split->edit->ir;
    const struct expr *filter = expr_filter(split->reduce);
    int64_t extent = expr_integer(split->reduce->binder->extent[split->number]);
    split->filter = filter ? change__split_moved(split, filter) : NULL;
    if (extent % split->step == 0)
        return;
    const struct expr *inside = ir_binary(ir, OP_LT, whole_index(split), ir_int(ir, extent));
    split->filter = split->filter ? ir_binary(ir, OP_AND, inside, split->filter) : inside;
}

const struct expr *
change__split_partial(const struct split *split, enum reduction reduction, const struct expr *body)
{
    struct ir *ir = split->edit->ir;
    const struct binder *old = split->reduce->binder;
    struct binder *binder = arena_alloc(ir_arena(ir), sizeof *binder);
    const struct expr **extent = arena_array(ir_arena(ir), old->count, sizeof *extent);
    memcpy(extent, old->extent, old->count * sizeof *extent);
    extent[split->number] = ir_int(ir, split->step);
    *binder = *old;
    binder->reduction = reduction;
    binder->level = change__stage(split->edit)->tensor->rank + 1;
    binder->extent = extent;
    return ir_reduce(ir, binder, body, split->filter);
}

/* Integers are 64 bits wide in a sum but 32 in a tensor. */
static bool
check_range(const struct split *split, const struct expr *value)
{
    struct edit *edit = split->edit;
    const struct stage *stage = change__stage(edit);
    const struct tensor *tensor = stage->tensor;
    struct level levels[LANG_MAX_LEVELS] = {0};
    int64_t low, high;
    if (value->kind != KIND_INT)
        return true;
    levels[0].high = split->chunks - 1;
    for (unsigned l = 0; l < tensor->rank; l++)
        levels[l + 1].high = tensor->size[l] - 1;
    expr_interval(value, levels, &low, &high);
    if (low >= INT32_MIN && high <= INT32_MAX)
        return true;
    return change__refuse(edit,
                          "%s adds up integers that may leave 32 bits, in which partial "
                          "results are kept; a smaller STEP than %lld may do",
                          tensor->name, (long long)split->step);
}

struct tensor *
change__split_put(const struct split *split, size_t before, const char *name, bool chunked,
                  const struct expr *code)
{
    struct edit *edit = split->edit;
    const struct stage *whole = change__stage(edit);
    const struct tensor *of = whole->tensor;
    struct tensor shape = {
        .name = name, .dtype = change__dtype(code->kind), .rank = of->rank + chunked};
    struct stage stage = {.rec = whole->rec, .carried = whole->carried};
    if (whole->rec >= 0)
        stage.carried += chunked;
    for (unsigned l = 0; l < of->rank; l++) {
        shape.size[l + chunked] = of->size[l];
        stage.index[l + chunked] = whole->index[l];
    }
    if (chunked) {
        shape.size[0] = split->chunks;
        stage.index[0] = split->chunk;
    }
    stage.tensor = change__tensor(edit, &shape);
    for (unsigned l = 0; l < of->rank; l++)
        stage.tensor->extent[l + chunked] = of->extent[l];
    struct stage *put = change__insert(edit, before, &stage);
    change__set_code(edit, put, code);
    return put->tensor;
}

const struct expr *
change__split_read(const struct split *split, const struct tensor *partials,
                   const struct expr *chunk)
{
    struct ir *ir = split->edit->ir;
    const struct expr *subscripts[LANG_MAX_RANK] = {chunk};
    for (unsigned l = 0; l + 1 < partials->rank; l++)
        subscripts[l + 1] = ir_index(ir, l);
    return change__load(split->edit, partials, subscripts, NULL);
}

const struct expr *
change__split_combined(const struct split *split, enum reduction reduction, const struct expr *body)
{
    struct ir *ir = split->edit->ir;
    struct binder *binder = arena_alloc(ir_arena(ir), sizeof *binder);
    const struct expr **extent = arena_array(ir_arena(ir), 1, sizeof *extent);
    const char **names = arena_array(ir_arena(ir), 1, sizeof *names);
    unsigned rank = change__stage(split->edit)->tensor->rank;
    extent[0] = ir_int(ir, split->chunks);
    names[0] = split->chunk;
    *binder = (struct binder){reduction, rank, 1, names, extent};
    return ir_reduce(ir, binder, body, NULL);
}

void
change__split_replace(struct edit *edit, struct stage *stage, const struct expr *reduce,
                      const struct expr *instead)
{
    struct move move;
    change__begin_move(edit, &move, stage->code, stage->tensor->rank);
    move.drop = reduce;
    move.instead = instead;
    change__set_code(edit, stage, change__move(&move, stage->code));
}

/* The reduction over what the chunks gave. */
static const struct expr *
all_chunks(const struct split *split, enum reduction reduction, const struct tensor *partials)
{
    unsigned rank = change__stage(split->edit)->tensor->rank;
    const struct expr *chunk = ir_index(split->edit->ir, rank);
    return change__split_combined(split, reduction, change__split_read(split, partials, chunk));
}

static bool
split_extreme_place(const struct split *split)
{
    struct edit *edit = split->edit;
    struct ir *ir = edit->ir;
    enum reduction arg = split->reduce->binder->reduction;
    const struct expr *body = change__split_moved(split, split->reduce->args[0]);
    enum reduction best = arg == REDUCE_ARGMAX ? REDUCE_MAX : REDUCE_MIN;
    const struct expr *value = change__split_partial(split, best, body);
    if (!check_range(split, value))
        return false;
    const char *name = change__name(edit, edit->line->name);
    struct tensor *places =
        change__split_put(split, edit->at, name, true, change__split_partial(split, arg, body));
    struct tensor *values =
        change__split_put(split, edit->at, arena_printf(edit->arena, "%s.best", name), true, value);
    struct tensor *winner =
        change__split_put(split, edit->at, arena_printf(edit->arena, "%s.chunk", name), false,
                          all_chunks(split, arg, values));
    const struct expr *subscripts[LANG_MAX_RANK];
    for (unsigned l = 0; l < winner->rank; l++)
        subscripts[l] = ir_index(ir, l);
    const struct expr *chunk = change__load(edit, winner, subscripts, NULL);
    const struct expr *place =
        ir_binary(ir, OP_ADD, ir_binary(ir, OP_MUL, chunk, ir_int(ir, split->step)),
                  change__split_read(split, places, chunk));
    int64_t last = expr_terms(split->reduce) - 1;
    if ((last + 1) % split->step != 0) /* true anyway, but who gathers with it must see it */
        place =
            ir_binary(ir, OP_MAX, ir_binary(ir, OP_MIN, place, ir_int(ir, last)), ir_int(ir, 0));
    change__split_replace(edit, change__stage(edit), split->reduce, place);
    return true;
}

static bool
split_value(const struct split *split)
{
    struct edit *edit = split->edit;
    struct ir *ir = edit->ir;
    enum reduction reduction = split->reduce->binder->reduction;
    bool mean = reduction == REDUCE_MEAN;
    const struct expr *body = change__split_moved(split, split->reduce->args[0]);
    if (mean && body->kind <= KIND_INT)
        body = ir_cast(ir, DTYPE_F32, body);
    const struct expr *part = change__split_partial(split, mean ? REDUCE_SUM : reduction, body);
    if (!check_range(split, part))
        return false;
    double terms = (double)expr_terms(split->reduce);
    struct tensor *partials =
        change__split_put(split, edit->at, change__name(edit, edit->line->name), true, part);
    const struct expr *all = all_chunks(split, mean ? REDUCE_SUM : reduction, partials);
    change__split_replace(edit, change__stage(edit), split->reduce,
                          mean ? ir_binary(ir, OP_DIV, all, ir_real(ir, terms)) : all);
    return true;
}

bool
change__split_begin(struct edit *edit, struct split *split)
{
    *split = (struct split){.edit = edit};
    if (!find_index(edit, split) || !check_step(edit, split))
        return false;
    const struct stage *stage = change__stage(edit);
    split->chunk = change__index(edit, stage, stage->tensor->rank, stage->value,
                                 arena_printf(edit->arena, "%sc", edit->line->name));
    move_filter(split);
    return true;
}

bool
change__split(struct edit *edit)
{
    struct split split;
    if (!change__split_begin(edit, &split))
        return false;
    return split.reduce->binder->reduction >= REDUCE_ARGMAX ? split_extreme_place(&split)
                                                            : split_value(&split);
}
