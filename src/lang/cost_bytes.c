/* Bytes that must move: of each input the box that its subscripts span over all loads, clipped to
 * the tensor, and every output element. */
#include "lang/cost_int.h"
#include "lang/ir_int.h"

#include <assert.h>
#include <string.h>

static struct span
hull(struct span a, struct span b)
{
    return (struct span){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

struct span
cost__span(const struct expr *e, const struct box *box)
{
    struct level levels[LANG_MAX_LEVELS] = {0};
    struct span span;
    for (unsigned l = 0; l < LANG_MAX_LEVELS; l++)
        levels[l].high = box->size[l] - 1;
    expr_interval(e, levels, &span.low, &span.high);
    return span;
}

unsigned
cost__bind(const struct expr *reduce, struct box *box)
{
    const struct binder *binder = reduce->binder;
    assert(binder->level + binder->count <= LANG_MAX_LEVELS);
    for (unsigned i = 0; i < binder->count; i++)
        box->size[binder->level + i] = expr_integer(binder->extent[i]);
    return binder->level + binder->count;
}

/* What is read of one input. */
struct reach {
    bool read;
    struct span span[LANG_MAX_RANK];
};

struct reader {
    struct box box;
    struct reach *reach;  /* by input */
    uint32_t *seen, turn; /* by node: the stage, counted from 1, that last saw it */
};

static void
note_load(struct reader *reader, const struct expr *load)
{
    const struct tensor *tensor = load->tensor;
    struct span span[LANG_MAX_RANK];
    for (unsigned d = 0; d < tensor->rank; d++) {
        span[d] = cost__span(load->args[d], &reader->box);
        if (span[d].low < 0)
            span[d].low = 0;
        if (span[d].high > tensor->size[d] - 1)
            span[d].high = tensor->size[d] - 1;
        if (span[d].low > span[d].high)
            return;
    }
    struct reach *reach = &reader->reach[tensor->input];
    for (unsigned d = 0; d < tensor->rank; d++)
        reach->span[d] = reach->read ? hull(reach->span[d], span[d]) : span[d];
    reach->read = true;
}

static void
note(struct reader *reader, const struct expr *e)
{
    if (!e->loads || reader->seen[e->id] == reader->turn)
        return;
    reader->seen[e->id] = reader->turn;
    if (e->op == OP_REDUCE)
        cost__bind(e, &reader->box);
    for (unsigned i = 0; i < e->count; i++)
        note(reader, e->args[i]);
    if (e->op == OP_LOAD && e->tensor->input >= 0)
        note_load(reader, e);
}

static double
bytes_read(const struct tensor *tensor, const struct reach *reach)
{
    double bytes = reach->read ? (double)dtype_info[tensor->dtype].size : 0;
    for (unsigned d = 0; d < tensor->rank; d++)
        bytes *= (double)(reach->span[d].high - reach->span[d].low + 1);
    return bytes;
}

static void
read_program(const struct program *program, struct reader *reader)
{
    for (size_t i = 0; i < program->stage_count; i++) {
        const struct stage *stage = &program->stages[i];
        memcpy(reader->box.size, stage->tensor->size, sizeof stage->tensor->size);
        reader->turn++;
        note(reader, stage->code);
    }
}

static double
whole(const struct tensor *tensor)
{
    return (double)tensor->count * (double)dtype_info[tensor->dtype].size;
}

bool
cost__bytes(const struct program *program, struct cost *cost)
{
    jmp_buf no_memory;
    struct arena *volatile arena = arena_create();
    if (arena == NULL || setjmp(no_memory) != 0) {
        arena_destroy(arena);
        return false;
    }
    arena_on_no_memory(arena, &no_memory);
    struct reader reader = {0};
    reader.seen = arena_array(arena, program->expr_count, sizeof *reader.seen);
    reader.reach = arena_array(arena, program->input_count, sizeof *reader.reach);
    read_program(program, &reader);
    for (size_t i = 0; i < program->input_count; i++)
        cost->bytes_in += program->foreign ? whole(program->tensors[i])
                                           : bytes_read(program->tensors[i], &reader.reach[i]);
    for (size_t i = 0; i < program->output_count; i++)
        cost->bytes_out += whole(program->outputs[i]);
    arena_destroy(arena);
    return true;
}
