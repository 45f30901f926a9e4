/* Classes: stages of the same shape and the same statement, up to which tensors they read, are
 * asked once. So the layers of a network get one line for all that are equal, the emitter one
 * function, and the search as few questions as there are kinds of layers. */
#include "coder/sketch_int.h"

#include "base/hash.h"

#include <string.h>

struct hasher {
    struct arena *arena;
    uint64_t *known; /* by the id of an expression, */
    uint32_t *when;  /* if it is of this stage, counted from 1 */
    uint32_t stage;
    const struct tensor **tensors; /* in the order in which the stage reads them */
    size_t tensor_count, tensor_capacity;
};

static uint64_t
add(uint64_t hash, uint64_t value)
{
    return hash_mix(hash, &value, sizeof value);
}

static uint64_t
add_shape(uint64_t hash, const struct tensor *tensor)
{
    hash = add(add(hash, tensor->dtype), tensor->rank);
    for (unsigned d = 0; d < tensor->rank; d++)
        hash = add(hash, (uint64_t)tensor->size[d]);
    return hash;
}

static size_t
number_of(struct hasher *hasher, const struct tensor *tensor)
{
    for (size_t i = 0; i < hasher->tensor_count; i++)
        if (hasher->tensors[i] == tensor)
            return i;
    if (hasher->tensor_count == hasher->tensor_capacity) {
        hasher->tensor_capacity = 2 * hasher->tensor_capacity + 16;
        hasher->tensors = arena_grow(hasher->arena, hasher->tensors, hasher->tensor_count,
                                     hasher->tensor_capacity, sizeof(struct tensor *));
    }
    hasher->tensors[hasher->tensor_count] = tensor;
    return hasher->tensor_count++;
}

/* What a node is apart from its arguments. */
static uint64_t
hash_node(struct hasher *hasher, const struct expr *e)
{
    uint64_t hash = add(add(add(0, e->op), e->kind), e->count), bits;
    switch (e->op) {
    case OP_INT:
        return add(hash, (uint64_t)e->integer);
    case OP_REAL:
        memcpy(&bits, &e->real, sizeof bits);
        return add(hash, bits);
    case OP_INDEX:
        return add(hash, e->level);
    case OP_CAST:
        return add(hash, e->dtype);
    case OP_LOAD:
        return add_shape(add(hash, number_of(hasher, e->tensor)), e->tensor);
    case OP_REDUCE:
    case OP_CAT:
        hash = add(add(add(hash, e->binder->reduction), e->binder->level), e->binder->count);
        for (unsigned i = 0; i < e->binder->count; i++)
            hash = add(hash, (uint64_t)expr_integer(e->binder->extent[i]));
        return hash;
    default:
        return hash;
    }
}

/* Layers differ in which part of their weights they read: numbers that an input's subscripts begin
 * with do not count. */
static uint64_t
hash_expression(struct hasher *hasher, const struct expr *e)
{
    if (hasher->when[e->id] == hasher->stage)
        return hasher->known[e->id];
    uint64_t hash = hash_node(hasher, e);
    bool part = e->op == OP_LOAD && e->tensor->stage == NULL;
    for (unsigned i = 0; i < e->count; i++) {
        part = part && e->args[i]->op == OP_INT;
        hash = add(hash, part ? 0 : hash_expression(hasher, e->args[i]));
    }
    hasher->when[e->id] = hasher->stage;
    hasher->known[e->id] = hash;
    return hash;
}

static uint64_t
hash_stage(struct hasher *hasher, const struct stage *stage, const struct expr *code)
{
    hasher->stage++;
    hasher->tensor_count = 0;
    uint64_t hash = add_shape(add(0, stage->rec >= 0 ? 1 + stage->carried : 0), stage->tensor);
    return add(hash, hash_expression(hasher, code));
}

static double
points_of(const struct stage *stage, const struct expr *code)
{
    const struct expr *reduce = work_reduce(code);
    return (double)stage->tensor->count * (reduce != NULL ? (double)expr_terms(reduce) : 1);
}

void
sketch_classify(struct sketcher *s)
{
    const struct program *program = s->program;
    struct arena *arena = arena_create();
    size_t count = program->stage_count, ids = ir_count(program->ir) + 1;
    struct hasher hasher = {.arena = arena,
                            .known = arena_array(arena, ids, sizeof *hasher.known),
                            .when = arena_array(arena, ids, sizeof *hasher.when)};
    uint64_t *hashes = arena_array(arena, count + 1, sizeof *hashes);
    s->classified = program;
    s->class_of = arena_array(s->space->arena, count + 1, sizeof *s->class_of);
    s->class_share = arena_array(s->space->arena, count + 1, sizeof *s->class_share);
    double total = 0;
    for (size_t i = 0; i < count; i++) {
        const struct stage *stage = &program->stages[i];
        const struct expr *code = s->schedule != NULL ? s->schedule->works[i].code : stage->code;
        size_t first = 0;
        hashes[i] = hash_stage(&hasher, stage, code);
        while (hashes[first] != hashes[i])
            first++;
        s->class_of[i] = first;
        s->class_share[first] += points_of(stage, code);
        total += points_of(stage, code);
    }
    for (size_t i = 0; i < count; i++)
        s->class_share[i] /= total;
    arena_destroy(arena);
}

const char *
sketch_class(const struct sketcher *s, const char *stage, double *share)
{
    const struct program *program = s->classified;
    for (size_t i = 0; i < program->stage_count; i++)
        if (strcmp(program->stages[i].tensor->name, stage) == 0) {
            *share = s->class_share[s->class_of[i]];
            return program->stages[s->class_of[i]].tensor->name;
        }
    *share = 1;
    return stage;
}
