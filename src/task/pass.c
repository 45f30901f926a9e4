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

static const double *
padded(double room[BLOCK], const double *values, int64_t count, double padding)
{
    memset(room, 0, BLOCK * sizeof *room);
    if (values)
        memcpy(room, values, (size_t)count * sizeof *room);
    for (int64_t i = count; i < BLOCK; i++)
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
    block->v = count == BLOCK ? v : padded(block->room[0], v, count, NAN);
    block->g = g && count == BLOCK ? g : padded(block->room[1], g, count, NAN);
    block->c = c && count == BLOCK ? c : padded(block->room[2], c, count, 0);
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
        for (int64_t i = 0; i < BLOCK; i++)
            got->room[i] = i < block->count ? dtype_element(dtype, data, block->first + i) : 0;
}
