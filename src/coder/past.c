/* nt: results past the caches. Vectors that lie at multiples of their own size are stored so one by
 * one (store.c). Where rows begin anywhere, those of the tile are collected in scratch and copied
 * out when it is done, in whole lines: an ordinary store would first read what it overwrites. */
#include "coder/emit_int.h"

#include <inttypes.h>

enum { SHORTEST = 64 }; /* elements of what lies in one piece */

/* What is below is whole results of one f32 output, in lanes along its rows. */
static bool
has_rows(const struct nest *nest, size_t at)
{
    const struct work *work = nest->member[0].work;
    const struct tensor *tensor = work->tensor;
    bool lanes = false;
    if (nest->members > 1 || nest->online != NULL || work->before != NULL ||
        tensor->dtype != DTYPE_F32 || nest_is_wide(nest) || box_find(nest, tensor) != NULL)
        return false;
    for (size_t i = 0; i < nest->line->count; i++) {
        const struct token *token = &nest->line->tokens[i];
        if (token->form != TOKEN_LOOP)
            continue;
        if (i < at && !work_is_left(work, token->level))
            return false;
        lanes = lanes || (i > at && token->mark == MARK_VECTOR && token->level + 1 == tensor->rank);
    }
    return lanes;
}

/* How many of the last dimensions of the box lie in one piece; *length: its elements. */
static unsigned
piece_of(const struct box *box, int64_t *length)
{
    const struct tensor *tensor = box->tensor;
    unsigned merged = 0;
    *length = 1;
    do
        *length *= box->at[tensor->rank - ++merged].extent;
    while (merged < tensor->rank &&
           box->at[tensor->rank - merged].extent == tensor->size[tensor->rank - merged]);
    return merged;
}

/* Piece by piece. */
static void
copy_out(struct nest *nest, const struct box *box, unsigned merged, int64_t length)
{
    struct emitter *em = nest->em;
    const struct tensor *tensor = box->tensor;
    struct lin to = {0}, from = {0};
    int64_t stride = 1, step = 1;
    unsigned loops = 0;
    for (unsigned i = tensor->rank; i-- > 0; stride *= tensor->size[i], step *= box->at[i].extent) {
        const struct span *span = &box->at[i];
        to.add += span->add * stride;
        if (span->var != NULL)
            lin_add_var(&to, span->var, stride);
        if (i + merged >= tensor->rank || span->extent == 1)
            continue;
        const char *var = code_name(em, "i");
        code_open(em, "for (long %s = 0; %s < %" PRId64 "; %s += 1) {", var, var, span->extent,
                  var);
        lin_add_var(&to, var, stride);
        lin_add_var(&from, var, step);
        loops++;
    }
    code_line(em, "%s(%s + %s, %s + %s, %" PRId64 ");", code_helper(em, "vf32_stream_row"),
              em->storage[tensor->number], lin_text(em->arena, &to), box->name,
              lin_text(em->arena, &from), length);
    while (loops-- > 0)
        code_close(em);
}

void
past_walk(struct nest *nest, size_t at)
{
    const struct tensor *tensor = nest->member[0].work->tensor;
    struct box box = {.outer = nest->boxes, .tensor = tensor};
    int64_t count = 1, length;
    nest->stream = true;
    if (work_has_ragged_rows(nest->member[0].work) && has_rows(nest, at)) {
        for (unsigned i = 0; i < tensor->rank; i++) {
            box.at[i] = nest->span[i];
            count *= nest->span[i].extent;
        }
        unsigned merged = piece_of(&box, &length);
        if (count <= CODER_PAST_ELEMENTS && length >= SHORTEST) {
            box.name = code_scratch(nest, nest->em->storage[tensor->number], DTYPE_F32, count);
            box.used = arena_alloc(nest->em->arena, sizeof *box.used);
            nest->boxes = &box;
            nest_walk(nest, at + 1);
            nest->boxes = box.outer;
            copy_out(nest, &box, merged, length);
            return;
        }
    }
    nest_walk(nest, at + 1);
}
