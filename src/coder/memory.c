/* Memory of tensors between stages. Two that are never needed at the same time may lie in the same
 * array: a network of a hundred layers needs room for a few of its tensors, and what was read a
 * moment ago is written over while it is still in the caches.
 *
 * A tensor is needed from the first root that writes it to the last one that reads it. Roots run in
 * the order of their stages, a `rec` block's all at once. */
#include "coder/coder_int.h"

#include <stdlib.h>

struct life { /* of a tensor: stages, both included */
    const struct tensor *tensor;
    size_t first, last;
};

static size_t
least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t
most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Adds all that may run while a stage is computed: by its own root, in the loops of another one, or
 * step by step with the rest of its block. */
static void
add_stage(const struct schedule *schedule, struct life *life, size_t stage)
{
    size_t place = work_place(schedule, stage);
    int rec = schedule->works[stage].stage->rec;
    life->first = least(life->first, least(stage, place));
    life->last = most(life->last, most(stage, place));
    if (rec >= 0) {
        const struct rec *block = &schedule->program->recs[rec];
        life->first = least(life->first, block->first);
        life->last = most(life->last, block->first + block->count - 1);
    }
}

/* Whole tensors of this memory: itself and those that are it under another name. */
static struct life
life_of(const struct schedule *schedule, const struct tensor *memory)
{
    const struct program *program = schedule->program;
    struct life life = {memory, program->stage_count, 0};
    for (size_t t = 0; t < program->stage_count; t++) {
        const struct tensor *tensor = program->stages[t].tensor;
        if (work_memory(schedule, tensor) != memory)
            continue;
        add_stage(schedule, &life, t);
        for (size_t i = 0; i < program->stage_count; i++)
            if (work_has_loops(&schedule->works[i]) &&
                work_loads(schedule->works[i].code, tensor, NULL, 0) > 0)
                add_stage(schedule, &life, i);
    }
    return life;
}

/* Large ones first: whatever fits into the life of an array then fits into it. */
static int
by_size(const void *left, const void *right)
{
    const struct life *a = left, *b = right;
    if (a->tensor->count != b->tensor->count)
        return a->tensor->count > b->tensor->count ? -1 : 1;
    return a->tensor->number < b->tensor->number ? -1 : 1;
}

static bool
can_share(const struct life *lives, struct memory *const *memory_of, size_t count,
          const struct memory *memory, const struct life *life)
{
    for (size_t i = 0; i < count; i++)
        if (memory_of[i] == memory &&
            (lives[i].tensor->dtype != life->tensor->dtype ||
             (lives[i].first <= life->last && life->first <= lives[i].last)))
            return false;
    /* what lies behind the end of indices must be indices */
    return dtype_is_float(life->tensor->dtype);
}

struct memory **
memory_plan(struct arena *arena, const struct schedule *schedule)
{
    const struct program *program = schedule->program;
    struct life *lives = arena_array(arena, program->stage_count + 1, sizeof *lives);
    struct memory *memories = arena_array(arena, program->stage_count + 1, sizeof *memories);
    struct memory **memory_of = arena_array(arena, program->stage_count + 1, sizeof *memory_of);
    struct memory **of_stage = arena_array(arena, program->stage_count + 1, sizeof *of_stage);
    size_t count = 0, made = 0;
    for (size_t i = 0; i < program->stage_count; i++)
        if (work_has_own_memory(schedule, &schedule->works[i]))
            lives[count++] = life_of(schedule, program->stages[i].tensor);
    qsort(lives, count, sizeof *lives, by_size);
    for (size_t i = 0; i < count; i++) {
        size_t m = 0;
        while (m < made && !can_share(lives, memory_of, i, &memories[m], &lives[i]))
            m++;
        if (m == made)
            memories[made++] = (struct memory){m, lives[i].tensor, 0};
        memories[m].tensors++;
        memory_of[i] = of_stage[lives[i].tensor->stage - program->stages] = &memories[m];
    }
    return of_stage;
}
