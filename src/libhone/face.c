#include "libhone/face.h"

#include <math.h>

enum status
face_measure(struct face_case *row, const struct lang_machine *machine)
{
    lang_cost(row->program, &row->cost);
    if (isnan(row->cost.flops))
        return STATUS_MACHINE;
    lang_light(row->program, &row->cost, machine, &row->light);
    return STATUS_OK;
}

void
face_put_shape(struct buf *buf, const struct tensor *tensor)
{
    if (tensor->rank == 0)
        buf_puts(buf, "scalar");
    for (unsigned d = 0; d < tensor->rank; d++)
        buf_printf(buf, "%s%lld", d ? "x" : "", (long long)tensor->size[d]);
}

void
face_put_diags(struct buf *buf, const struct diags *diags, enum diag_level level)
{
    for (size_t i = 0; i < diags_count(diags); i++) {
        const struct diag *diag = diags_get(diags, i);
        if (diag->level != level)
            continue;
        const struct place *place = &diag->place;
        if (place->source != NULL && place->line > 0)
            buf_printf(buf, "%s:%u:%u: ", place->source->path, place->line, place->column);
        else if (place->source != NULL)
            buf_printf(buf, "%s: ", place->source->path);
        buf_printf(buf, "%s\n", diag->message);
    }
}
