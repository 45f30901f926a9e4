/* part S c STEP: one left index becomes two, c = cc*STEP + c, as heads that lie side by side are
 * indices of their own.
 *
 *     O[i,c:512] = sum[j](A[c/64,i,j]*V[j,c])                STEP = 64
 *     O.c[i,cc:8,c:64] = sum[j](A[cc,i,j]*V[j,cc*64+c])
 *     O[i,c]           = O.c[i,c/64,c%64]
 *
 * What S has left to do is to rename the elements of O.c in their own order, which is no work: it
 * is the same memory. Every bit stays what it was. */
#include "coder/change_edit_int.h"

static bool
check_part(struct edit *edit, int level)
{
    const struct stage *stage = change__stage(edit);
    const struct tensor *tensor = stage->tensor;
    const char *name = edit->line->name;
    int64_t step = edit->line->step;
    const struct expr *reduction = change__reduction(edit, stage->code);
    unsigned reduced = reduction != NULL ? reduction->binder->count : 0;
    if (level < 0)
        return change__refuse(edit, "%s is no left index of %s; those are %s", name, tensor->name,
                              change__list(edit, stage->index, tensor->rank));
    if (step < 2 || step >= tensor->size[level] || tensor->size[level] % step != 0)
        return change__refuse(edit,
                              "%lld does not part %s, which has %lld values; a step from 2 on that "
                              "divides it does",
                              (long long)step, name, (long long)tensor->size[level]);
    if (stage->rec >= 0)
        return change__refuse(edit,
                              "%s is part of a rec block, which is computed step by step; a stage "
                              "outside of one is legal",
                              tensor->name);
    if (change__cuts(edit, stage->code, level))
        return change__refuse(edit, "%s of %s is cut by a cat; another index may be parted", name,
                              tensor->name);
    if (tensor->rank == LANG_MAX_RANK || tensor->rank + 1 + reduced > LANG_MAX_LEVELS)
        return change__refuse(edit, "%s has too many indices already; one more is not possible",
                              tensor->name);
    return true;
}

/* S.c, with the indices of S but for the parted one. */
static struct tensor *
put_parted(struct edit *edit, unsigned level)
{
    struct ir *ir = edit->ir;
    const struct stage *whole = change__stage(edit);
    const struct tensor *of = whole->tensor;
    const char *name = edit->line->name;
    struct tensor shape = {
        .name = change__name(edit, name), .rank = of->rank + 1, .dtype = of->dtype};
    struct stage stage = {.rec = -1};
    struct move move;
    change__begin_move(edit, &move, whole->code, shape.rank);
    move.divides = true;
    for (unsigned l = 0; l < of->rank; l++) {
        unsigned to = l >= level ? l + 1 : l;
        shape.size[to] = of->size[l];
        stage.index[to] = whole->index[l];
        move.rewrite.replace[l] = ir_index(ir, to);
    }
    shape.size[level] = of->size[level] / edit->line->step;
    shape.size[level + 1] = edit->line->step;
    stage.index[level] =
        change__index(edit, whole, of->rank, whole->code, arena_printf(edit->arena, "%sc", name));
    move.rewrite.replace[level] = ir_binary(
        ir, OP_ADD, ir_binary(ir, OP_MUL, ir_index(ir, level), ir_int(ir, edit->line->step)),
        ir_index(ir, level + 1));
    stage.tensor = change__tensor(edit, &shape);
    const struct expr *code = change__move(&move, whole->code);
    struct stage *put = change__insert(edit, edit->at, &stage);
    change__set_code(edit, put, code);
    return put->tensor;
}

bool
change__part(struct edit *edit)
{
    struct ir *ir = edit->ir;
    int level = change__left(change__stage(edit), edit->line->name);
    const struct expr *subscripts[LANG_MAX_RANK], *step = ir_int(ir, edit->line->step);
    if (!check_part(edit, level))
        return false;
    const struct tensor *parted = put_parted(edit, (unsigned)level);
    for (unsigned l = 0; l < parted->rank; l++)
        subscripts[l] = ir_index(ir, (int)l > level ? l - 1 : l);
    subscripts[level] = ir_binary(ir, OP_DIV, ir_index(ir, (unsigned)level), step);
    subscripts[level + 1] = ir_binary(ir, OP_MOD, ir_index(ir, (unsigned)level), step);
    change__set_code(edit, change__stage(edit), change__load(edit, parted, subscripts, NULL));
    return true;
}
