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

#define ELEMENT_TEXT 256

/* "[3,0]" for an element's number. */
static void
element_text(char text[ELEMENT_TEXT], const struct tensor *tensor, int64_t at)
{
    int64_t rest = tensor->count;
    size_t length = 0;
    for (unsigned d = 0; d < tensor->rank; d++) {
        rest /= tensor->size[d];
        length += (size_t)snprintf(text + length, ELEMENT_TEXT - length, "%c%lld", d ? ',' : '[',
                                   (long long)(at / rest % tensor->size[d]));
    }
    snprintf(text + length, ELEMENT_TEXT - length, tensor->rank ? "]" : "[]");
}

enum status
face_check_input(const struct tensor *tensor, const char *name, const void *data,
                 struct diags *diags)
{
    if (dtype_is_float(tensor->dtype))
        return STATUS_OK;
    for (int64_t at = 0; at < tensor->count; at++) {
        double value = dtype_element(tensor->dtype, data, at);
        if (value >= (double)tensor->low && value <= (double)tensor->high)
            continue;
        char text[ELEMENT_TEXT];
        element_text(text, tensor, at);
        diags_add(diags, DIAG_ERROR, (struct place){0},
                  "%s: element %s is %.0f; the elements of %s lie in %lld..%lld", name, text, value,
                  tensor->name, (long long)tensor->low, (long long)tensor->high);
        return STATUS_INPUT;
    }
    return STATUS_OK;
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
