/* Inputs from elsewhere: the compiled reference reads where their integers say, unasked. */
#include "task/task_int.h"

#include <stdio.h>

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
task_check_input(const struct tensor *tensor, const char *name, const void *data,
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
