/* A tensor stored in another way, for one stage to read. */
#include "coder/change_edit_int.h"

#include "base/num.h"

#include <string.h>

#define MAX_GROWTH 8                  /* times what was there ... */
#define MAX_BYTES ((int64_t)64 << 20) /* ... and more than this: too large */

/* ---- storing a tensor in another way ---- */

/* Whether the tensor is a copy that an earlier rewrite made for S alone: one load with a constant
 * default or none. */
static bool
is_copy(struct edit *edit, const struct tensor *tensor)
{
    const struct stage *own = tensor->stage;
    const char *name = change__stage(edit)->tensor->name;
    size_t length = strlen(name);
    if (own == NULL || own->rec >= 0 || tensor->output >= 0 || own->code->op != OP_LOAD ||
        strncmp(tensor->name, name, length) != 0 || tensor->name[length] != '.')
        return false;
    if (expr_default(own->code) != NULL && !expr_is_constant(expr_default(own->code)))
        return false;
    for (size_t i = 0; i < edit->program->stage_count; i++)
        if (i != edit->at && change__reads_any(edit, edit->program->stages[i].code, tensor))
            return false;
    return true;
}

static bool
is_too_large(struct edit *edit, const struct tensor *old, const struct tensor *shape)
{
    int64_t count = 1, bytes = 0;
    bool fits = true;
    for (unsigned i = 0; i < shape->rank; i++)
        fits = fits && shape->size[i] > 0 && num_mul(count, shape->size[i], &count);
    fits = fits && num_mul(count, (int64_t)dtype_info[old->dtype].size, &bytes);
    if (fits && (count / MAX_GROWTH <= old->count || bytes <= MAX_BYTES))
        return false;
    change__refuse(edit,
                   "%s would grow to %lld times its size; at most %d times, or 64 MB, is allowed",
                   old->name, (long long)(fits ? count / old->count : INT32_MAX), MAX_GROWTH);
    return true;
}

/* The load of what the copy `stage` copies, by the new indices. */
static const struct expr *
copy_of_copy(struct edit *edit, const struct stage *stage, const struct layout *layout,
             const struct expr *fill)
{
    const struct expr *load = stage->code;
    const struct expr *subscripts[LANG_MAX_RANK];
    struct move move;
    change__begin_move(edit, &move, load, layout->rank);
    move.divides = true;
    for (unsigned i = 0; i < stage->tensor->rank; i++)
        move.rewrite.replace[i] = layout->from[i];
    for (unsigned i = 0; i < load->tensor->rank; i++)
        subscripts[i] = change__move(&move, load->args[i]);
    return change__load(edit, load->tensor, subscripts,
                        expr_default(load) ? expr_default(load) : fill);
}

/* Whether some subscript of the copy's load leaves what it copies, over these ranges. */
static bool
always_leaves(const struct expr *load, const struct level *levels)
{
    for (unsigned e = 0; e < load->tensor->rank; e++) {
        int64_t low, high;
        expr_interval(load->args[e], levels, &low, &high);
        if (high < 0 || low >= load->tensor->size[e])
            return true;
    }
    return false;
}

/* Whether the copy can be enlarged by reading on: what the layout takes from outside of the old
 * tensor must be the fill, so it must lie outside of what that is a copy of, too. */
static bool
can_enlarge(const struct tensor *old, const struct layout *layout)
{
    const struct expr *load = old->stage->code;
    struct level fresh[LANG_MAX_LEVELS] = {0}, levels[LANG_MAX_LEVELS] = {0};
    if (layout->fill == NULL)
        return true; /* nobody looks */
    if (expr_default(load) != NULL && !change__same_number(expr_default(load), layout->fill))
        return false;
    for (unsigned i = 0; i < layout->rank; i++)
        fresh[i].high = layout->size[i] - 1;
    for (unsigned d = 0; d < old->rank; d++)
        expr_interval(layout->from[d], fresh, &levels[d].low, &levels[d].high);
    for (unsigned d = 0; d < old->rank; d++) {
        struct level all = levels[d];
        levels[d].high = -1;
        if (all.low < 0 && !always_leaves(load, levels))
            return false;
        levels[d] = (struct level){.low = old->size[d], .high = all.high};
        if (all.high >= old->size[d] && !always_leaves(load, levels))
            return false;
        levels[d] = all;
    }
    return true;
}

static struct tensor *
restore_copy(struct edit *edit, struct tensor *old, struct tensor *tensor,
             const struct layout *layout, const struct expr *fill)
{
    struct stage *stage = &edit->program->stages[old->stage - edit->program->stages];
    const struct expr *code = copy_of_copy(edit, stage, layout, fill);
    tensor->number = old->number;
    edit->program->tensors[old->number] = tensor;
    stage->tensor = tensor;
    memcpy(stage->index, layout->index, sizeof stage->index);
    tensor->stage = stage;
    change__set_code(edit, stage, code);
    return tensor;
}

struct tensor *
change__store_as(struct edit *edit, struct tensor *old, const struct layout *layout, bool in_place)
{
    const struct stage *reader = change__stage(edit);
    struct tensor shape = {.name = old->name, .dtype = old->dtype, .rank = layout->rank};
    const struct expr *fill = layout->fill                               ? layout->fill
                              : dtype_info[old->dtype].kind == KIND_BOOL ? ir_bool(edit->ir, false)
                                                                         : ir_int(edit->ir, 0);
    memcpy(shape.size, layout->size, sizeof shape.size);
    if (is_too_large(edit, old, &shape))
        return NULL;
    if (in_place && is_copy(edit, old) && can_enlarge(old, layout))
        return restore_copy(edit, old, change__tensor(edit, &shape), layout, fill);
    shape.name = change__name(edit, old->name);
    struct stage stage = {.tensor = change__tensor(edit, &shape), .rec = -1};
    memcpy(stage.index, layout->index, sizeof stage.index);
    size_t before = edit->at;
    if (reader->rec >= 0)
        before = edit->program->recs[reader->rec].first;
    struct stage *put = change__insert(edit, before, &stage);
    change__set_code(edit, put, change__load(edit, old, layout->from, fill));
    return put->tensor;
}

/* ---- names of dimensions ---- */

struct naming {
    const struct tensor *tensor;
    const char **names;
};

/* y of y*2+r: a left index that stands by itself, else another, else anything below. */
static unsigned
main_level(const struct expr *e, unsigned rank)
{
    struct sum sum;
    unsigned level = (unsigned)__builtin_ctz(e->free);
    bool found = false;
    if (!change__sum(e, &sum))
        return level;
    for (unsigned i = 0; i < sum.count; i++) {
        const struct expr *atom = sum.terms[i].atom;
        if (atom->op == OP_INDEX && (!found || (level >= rank && atom->level < rank))) {
            level = atom->level;
            found = true;
        }
    }
    return level;
}

static void
name_dimensions(struct visit *visit, const struct expr *load, const struct level *levels)
{
    struct naming *naming = visit->context;
    unsigned rank = change__stage(visit->edit)->tensor->rank;
    if (load->tensor != naming->tensor)
        return;
    for (unsigned d = 0; d < load->tensor->rank; d++)
        if (naming->names[d] == NULL && load->args[d]->free != 0)
            naming->names[d] = levels[main_level(load->args[d], rank)].name;
}

void
change__dimension_names(struct edit *edit, const struct tensor *tensor,
                        const char *names[LANG_MAX_RANK])
{
    struct stage made = {0};
    struct naming naming = {tensor, names};
    struct visit visit = {edit, name_dimensions, &naming};
    memset(names, 0, LANG_MAX_RANK * sizeof *names);
    if (is_copy(edit, tensor))
        memcpy(names, tensor->stage->index, LANG_MAX_RANK * sizeof *names);
    else
        change__visit(&visit, change__stage(edit)->code);
    for (unsigned d = 0; d < tensor->rank; d++) {
        const char *wish = names[d] ? names[d] : arena_printf(edit->arena, "i%u", d);
        names[d] = made.index[d] = change__index(edit, &made, d, NULL, wish);
    }
}
