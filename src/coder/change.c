/* One line of the schedule's "!" lines becomes another program.
 *
 * The program is copied first, stages and tensors both: loads point to tensors, and a tensor names
 * its stage, so sharing some of them between two programs would let one see the other's changes.
 * Only expressions without loads, dims and constants are shared. */
#include "coder/change_edit_int.h"

#include <assert.h>
#include <string.h>

static bool (*const rewrites[CHANGE_COUNT])(struct edit *edit) = {
    [CHANGE_PAD] = change__pad,     [CHANGE_FLAT] = change__flat,
    [CHANGE_PHASE] = change__phase, [CHANGE_SPLIT] = change__split,
    [CHANGE_CHUNK] = change__chunk, [CHANGE_MOMENTS] = change__moments,
    [CHANGE_PART] = change__part,   [CHANGE_ROWS] = change__rows,
};

/* ---- the copy ---- */

static const struct expr *
leave_copying(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    const struct program *copy = rewrite->context;
    if (e->op != OP_LOAD)
        return ir_with_args(rewrite->ir, e, args);
    const struct tensor *tensor = copy->tensors[e->tensor->number];
    return ir_load(rewrite->ir, tensor, dtype_info[tensor->dtype].kind, tensor->rank, args,
                   e->count > tensor->rank ? args[tensor->rank] : NULL);
}

static const struct expr *
copied(struct program *copy, const struct stage *stage, const struct expr *e, enum pieces pieces)
{
    struct rewrite rewrite = {
        .ir = copy->ir, .leave = leave_copying, .context = copy, .pieces = pieces};
    change__levels(stage, rewrite.levels);
    return ir_rewrite(&rewrite, e);
}

static void
copy_tensors(struct arena *arena, const struct program *old, struct program *copy)
{
    copy->tensors = arena_array(arena, old->tensor_count + 1, sizeof *copy->tensors);
    for (size_t i = 0; i < old->tensor_count; i++) {
        copy->tensors[i] = arena_alloc(arena, sizeof *copy->tensors[i]);
        *copy->tensors[i] = *old->tensors[i];
        assert(copy->tensors[i]->number == i);
    }
    copy->outputs = arena_array(arena, old->output_count + 1, sizeof *copy->outputs);
    for (size_t i = 0; i < old->output_count; i++)
        copy->outputs[i] = copy->tensors[old->outputs[i]->number];
}

static void
copy_stages(struct arena *arena, const struct program *old, struct program *copy)
{
    copy->stages = arena_array(arena, old->stage_count + 1, sizeof *copy->stages);
    for (size_t i = 0; i < old->stage_count; i++) {
        const struct stage *from = &old->stages[i];
        struct stage *to = &copy->stages[i];
        *to = *from;
        to->tensor = copy->tensors[from->tensor->number];
        to->tensor->stage = to;
        to->code = copied(copy, from, from->code, PIECES_CODE);
        to->value =
            from->value == from->code ? to->code : copied(copy, from, from->value, PIECES_VALUE);
    }
}

static struct program *
copy_program(struct arena *arena, const struct program *old)
{
    struct program *copy = arena_alloc(arena, sizeof *copy);
    *copy = *old;
    copy_tensors(arena, old, copy);
    copy_stages(arena, old, copy);
    return copy;
}

/* ---- the end ---- */

/* Blocks are numbered by their order; those that a rewrite made have numbers from rec_count on. */
static void
finish_recs(struct arena *arena, struct program *program)
{
    const struct rec *old = program->recs;
    size_t old_count = program->rec_count;
    int last = -1;
    program->recs = arena_array(arena, program->stage_count + 1, sizeof *program->recs);
    program->rec_count = 0;
    for (size_t i = 0; i < program->stage_count; i++) {
        struct stage *stage = &program->stages[i];
        int number = stage->rec;
        if (number >= 0 && number != last) {
            const struct tensor *tensor = stage->tensor;
            program->recs[program->rec_count++] =
                (size_t)number < old_count
                    ? (struct rec){i, 0, old[number].extent, old[number].size}
                    : (struct rec){i, 0, tensor->extent[stage->carried],
                                   tensor->size[stage->carried]};
        }
        if (number >= 0) {
            stage->rec = (int)program->rec_count - 1;
            program->recs[stage->rec].count++;
        }
        last = number;
    }
}

static void
finish(struct edit *edit)
{
    struct program *program = edit->program;
    finish_recs(edit->arena, program);
    for (size_t i = 0; i < program->stage_count; i++)
        program->stages[i].tensor->stage = &program->stages[i];
    program->expr_count = ir_count(program->ir);
}

/* ---- one line ---- */

static bool
find_stage(struct edit *edit)
{
    struct program *program = edit->program;
    const char **names = arena_array(edit->arena, program->stage_count + 1, sizeof *names);
    for (size_t i = 0; i < program->stage_count; i++) {
        names[i] = program->stages[i].tensor->name;
        edit->at = i;
        if (strcmp(names[i], edit->line->stage) == 0)
            return true;
    }
    return change__refuse(edit, "%s is no stage of the program; those are %s", edit->line->stage,
                          change__list(edit, names, program->stage_count));
}

struct program *
change_program(struct arena *arena, const struct program *program, const struct change_line *line,
               const char **why)
{
    struct edit edit = {.arena = arena, .ir = program->ir, .line = line};
    assert(line->change < CHANGE_COUNT);
    edit.program = copy_program(arena, program);
    bool done = find_stage(&edit) && rewrites[line->change](&edit);
    assert(done == (edit.why == NULL));
    *why = edit.why;
    if (!done)
        return NULL;
    finish(&edit);
    return edit.program;
}
