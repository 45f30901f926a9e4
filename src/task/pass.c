#include "task/pass_int.h"

#include <math.h>
#include <string.h>

const struct passes *
pass_here(void)
{
#if defined(__x86_64__)
    if (pass__avx2.supported())
        return &pass__avx2;
#endif
    return &pass__plain;
}

/* Zeros if there are no values. */
static const double *
padded(double room[BLOCK], const struct block *block, const double *values, double padding)
{
    size_t bytes = (size_t)block->count * sizeof *room;

    if (values)
        memcpy(room, values, bytes);
    else
        memset(room, 0, bytes);
    for (int64_t i = block->count; i < block->end; i++)
        room[i] = padding;
    return room;
}

void
block_take(struct block *block, const struct lang_result *result, int64_t first)
{
    const double *v = result->v + first, *g = result->g ? result->g + first : NULL;
    const double *c = result->c ? result->c + first : NULL;
    int64_t left = result->tensor->count - first, count = left < BLOCK ? left : BLOCK;

    block->result = result;
    block->first = first;
    block->count = count;
    block->end = (count + WIDEST - 1) / WIDEST * WIDEST;
    block->v = count == BLOCK ? v : padded(block->room[0], block, v, NAN);
    block->g = g && count == BLOCK ? g : padded(block->room[1], block, g, NAN);
    block->c = c && count == BLOCK ? c : padded(block->room[2], block, c, 0);
}

void
block_read(const struct block *block, const void *data, struct got *got)
{
    enum dtype dtype = block->result->tensor->dtype;

    got->single = NULL;
    got->doubles = got->room;
    if (block->count == BLOCK && dtype == DTYPE_F32)
        got->single = (const float *)data + block->first;
    else if (block->count == BLOCK && dtype == DTYPE_F64)
        got->doubles = (const double *)data + block->first;
    else
        for (int64_t i = 0; i < block->end; i++)
            got->room[i] = i < block->count ? dtype_element(dtype, data, block->first + i) : 0;
}
