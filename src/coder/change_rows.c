/* rows S x: a window is reduced across whole rows first, and along them then.
 *
 *     Y[c,y,x]     = max[r,s](X[c, y*2+r-1, x*2+s-1 | -inf])
 *     Y.x[c,y,x:W] = max[r](X[c, y*2+r-1, x | -inf])           x as X has it
 *     Y[c,y,x]     = max[s](Y.x[c, y, x*2+s-1 | -inf])
 *
 * Rows lie in order, so the larger part of the work is done in vectors, whatever the stride; and
 * what overlapping windows share is computed once. Sums are added in another order. A mean is a sum
 * divided by all its terms at the end. */
#include "coder/change_split_int.h"

struct rows {
    struct edit *edit;
    const struct expr *reduce, *load;
    unsigned level, dim;    /* x in S, and in what it reads */
    uint32_t along, across; /* indices of the reduction, by number: those that choose x, others */
};

static bool
find_dim(struct rows *rows)
{
    const struct expr *load = rows->load;
    unsigned from = rows->reduce->binder->level, found = 0;
    for (unsigned d = 0; d < load->tensor->rank; d++) {
        uint32_t chosen = load->args[d]->free >> from;
        if (load->args[d]->loads)
            return false;
        if (load->args[d]->free & 1u << rows->level) {
            rows->dim = d;
            rows->along = chosen;
            if (++found > 1 || (load->args[d]->free & ((1u << from) - 1)) != 1u << rows->level)
                return false;
        } else
            rows->across |= chosen;
    }
    return found == 1 && rows->along != 0 && rows->across != 0 && (rows->along & rows->across) == 0;
}

/* Elements outside that are added up for every row must be nothing. */
static bool
suits(enum reduction reduction, const struct expr *fill)
{
    bool extreme = reduction == REDUCE_MAX || reduction == REDUCE_MIN;
    bool sum = reduction == REDUCE_SUM || reduction == REDUCE_MEAN;
    if (fill != NULL && !expr_is_constant(fill))
        return false;
    return extreme || (sum && (fill == NULL || expr_real(fill) == 0));
}

static bool
find_window(struct rows *rows)
{
    struct edit *edit = rows->edit;
    const struct stage *stage = change__stage(edit);
    const char *own = stage->tensor->name, *x = edit->line->name;
    int level = change__left(stage, x);
    if (level < 0)
        return change__refuse(edit, "%s is no left index of %s; those are %s", x, own,
                              change__list(edit, stage->index, stage->tensor->rank));
    rows->level = (unsigned)level;
    rows->reduce = change__reduction(edit, stage->code);
    rows->load = rows->reduce != NULL ? rows->reduce->args[0] : NULL;
    if (rows->load == NULL || rows->load->op != OP_LOAD || rows->load->kind < KIND_F32 ||
        expr_filter(rows->reduce) != NULL || stage->rec >= 0 ||
        change__cuts(edit, stage->code, -1) ||
        !suits(rows->reduce->binder->reduction, expr_default(rows->load)))
        return change__refuse(edit,
                              "%s is no sum, mean, max or min of a tensor of floats in a window; "
                              "nothing else goes by rows",
                              own);
    if (!find_dim(rows))
        return change__refuse(edit,
                              "%s does not read one window in which some indices choose %s and "
                              "others do not; another left index may do",
                              own, x);
    return true;
}

/* What a stage with S's left indices and these of the reduction makes of an old subscript. */
static void
begin_move(const struct rows *rows, struct move *move, uint32_t indices)
{
    struct edit *edit = rows->edit;
    const struct stage *stage = change__stage(edit);
    unsigned rank = stage->tensor->rank, next = rank;
    change__begin_move(edit, move, stage->code, rank);
    for (unsigned i = 0; i < rows->reduce->binder->count; i++)
        if (indices & 1u << i)
            move->rewrite.replace[rows->reduce->binder->level + i] = ir_index(edit->ir, next++);
}

/* The reduction over these of its indices. */
static const struct expr *
reduced(const struct rows *rows, uint32_t indices, const struct expr *body)
{
    struct ir *ir = rows->edit->ir;
    const struct binder *old = rows->reduce->binder;
    struct binder *binder = arena_alloc(ir_arena(ir), sizeof *binder);
    const struct expr **extent = arena_array(ir_arena(ir), old->count, sizeof *extent);
    const char **names = arena_array(ir_arena(ir), old->count, sizeof *names);
    enum reduction reduction = old->reduction == REDUCE_MEAN ? REDUCE_SUM : old->reduction;
    unsigned count = 0;
    for (unsigned i = 0; i < old->count; i++)
        if (indices & 1u << i) {
            extent[count] = old->extent[i];
            names[count++] = old->names[i];
        }
    *binder =
        (struct binder){reduction, change__stage(rows->edit)->tensor->rank, count, names, extent};
    return ir_reduce(ir, binder, body, NULL);
}

/* S.x: whole rows. */
static struct tensor *
put_rows(const struct rows *rows)
{
    struct edit *edit = rows->edit;
    const struct stage *whole = change__stage(edit);
    const struct tensor *of = whole->tensor, *source = rows->load->tensor;
    const struct expr *subscripts[LANG_MAX_RANK];
    struct stage stage = {.rec = -1};
    struct move move;
    begin_move(rows, &move, rows->across);
    for (unsigned d = 0; d < source->rank; d++)
        subscripts[d] = d == rows->dim ? ir_index(edit->ir, rows->level)
                                       : change__move(&move, rows->load->args[d]);
    const struct expr *code = reduced(
        rows, rows->across, change__load(edit, source, subscripts, expr_default(rows->load)));
    struct tensor shape = {.name = change__name(edit, edit->line->name),
                           .dtype = change__dtype(code->kind),
                           .rank = of->rank};
    for (unsigned l = 0; l < of->rank; l++) {
        shape.size[l] = l == rows->level ? source->size[rows->dim] : of->size[l];
        stage.index[l] = whole->index[l];
    }
    stage.tensor = change__tensor(edit, &shape);
    for (unsigned l = 0; l < of->rank; l++)
        stage.tensor->extent[l] =
            l == rows->level ? ir_int(edit->ir, shape.size[l]) : of->extent[l];
    struct stage *put = change__insert(edit, edit->at, &stage);
    change__set_code(edit, put, code);
    return put->tensor;
}

bool
change__rows(struct edit *edit)
{
    struct rows rows = {.edit = edit};
    struct ir *ir = edit->ir;
    const struct expr *subscripts[LANG_MAX_RANK];
    struct move move;
    if (!find_window(&rows))
        return false;
    struct tensor *made = put_rows(&rows);
    begin_move(&rows, &move, rows.along);
    for (unsigned l = 0; l < made->rank; l++)
        subscripts[l] =
            l == rows.level ? change__move(&move, rows.load->args[rows.dim]) : ir_index(ir, l);
    const struct expr *all =
        reduced(&rows, rows.along, change__load(edit, made, subscripts, expr_default(rows.load)));
    if (rows.reduce->binder->reduction == REDUCE_MEAN)
        all = ir_binary(ir, OP_DIV, all, ir_real(ir, (double)expr_terms(rows.reduce)));
    change__split_replace(edit, change__stage(edit), rows.reduce, all);
    return true;
}
