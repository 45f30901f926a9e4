/* pad S X: S.X is X enlarged on each side as far as the guarded reads of S reach and filled with
 * their default; all reads of X in S become plain reads of S.X, their subscripts shifted.
 *
 * S.X holds all of X, so reads without a guard move along whatever their subscripts are. Guarded
 * ones must be quasi-affine: where a gather may reach is known only as an interval of data. */
#include "coder/change_edit_int.h"

#include "base/num.h"

struct padding {
    struct edit *edit;
    const struct tensor *old, *padded;
    int64_t before[LANG_MAX_RANK]; /* elements put before those of X */
};

/* Guarded reads that gather. */
static void
refuse_gather(struct visit *visit, const struct expr *load, const struct level *levels)
{
    (void)levels;
    if (load->tensor != visit->context || expr_default(load) == NULL)
        return;
    for (unsigned d = 0; d < load->tensor->rank; d++)
        if (load->args[d]->loads)
            change__refuse(visit->edit,
                           "%s is read in %s at a place that data decide (subscript %u); only "
                           "subscripts of indices can be padded",
                           load->tensor->name, change__stage(visit->edit)->tensor->name, d + 1);
}

static bool
check_reads(struct edit *edit, struct tensor *tensor, struct reads *reads)
{
    struct visit visit = {edit, refuse_gather, tensor};
    const char *stage = change__stage(edit)->tensor->name;
    change__visit(&visit, change__stage(edit)->code);
    if (edit->why != NULL || !change__reads(edit, tensor, reads))
        return false;
    if (reads->guarded == 0)
        return change__refuse(edit,
                              "%s is never left by the reads of %s, so there is nothing to "
                              "pad; name a tensor that it reads with a default",
                              tensor->name, stage);
    return true;
}

static const struct expr *
move_load(struct move *move, const struct expr *load, const struct expr *const *args)
{
    const struct padding *padding = move->context;
    struct ir *ir = move->rewrite.ir;
    const struct expr *subscripts[LANG_MAX_RANK];
    if (load->tensor != padding->old)
        return NULL;
    for (unsigned d = 0; d < padding->old->rank; d++)
        subscripts[d] = ir_binary(ir, OP_ADD, args[d], ir_int(ir, padding->before[d]));
    return change__load(padding->edit, padding->padded, subscripts, NULL);
}

static void
lay_out(struct edit *edit, const struct reads *reads, struct padding *padding,
        struct layout *layout)
{
    const struct tensor *old = reads->tensor;
    layout->rank = old->rank;
    layout->fill = reads->fill;
    change__dimension_names(edit, old, layout->index);
    for (unsigned d = 0; d < old->rank; d++) {
        int64_t low = reads->low[d] < 0 ? reads->low[d] : 0;
        int64_t high = reads->high[d] >= old->size[d] ? reads->high[d] : old->size[d] - 1;
        padding->before[d] = -low;
        layout->size[d] = high - low + 1;
        layout->from[d] = ir_binary(edit->ir, OP_ADD, ir_index(edit->ir, d), ir_int(edit->ir, low));
    }
}

bool
change__pad(struct edit *edit)
{
    struct tensor *tensor = change__source(edit, edit->line->name);
    struct padding padding = {.edit = edit, .old = tensor};
    struct layout layout = {0};
    struct reads reads = {0};
    struct move move;
    if (tensor == NULL || !check_reads(edit, tensor, &reads))
        return false;
    lay_out(edit, &reads, &padding, &layout);
    padding.padded = change__store_as(edit, tensor, &layout, true);
    if (padding.padded == NULL)
        return false;
    struct stage *stage = change__stage(edit);
    change__begin_move(edit, &move, stage->code, stage->tensor->rank);
    move.load = move_load;
    move.context = &padding;
    change__set_code(edit, stage, change__move(&move, stage->code));
    return true;
}
