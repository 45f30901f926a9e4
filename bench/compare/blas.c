/* OpenBLAS and BLIS, where the task is a product of matrices. */
#include "compare.h"

void
compare_blas(const struct compare_task *task, struct contestants *all)
{
    struct exact_product product;
    struct library_call call;

    if (!exact_product(task->program, &product))
        return;
    if (library_openblas(task->arena, &product, task->buffers, &call))
        contestants_add(all, call);
    if (library_blis(task->arena, &product, task->buffers, &call))
        contestants_add(all, call);
}
