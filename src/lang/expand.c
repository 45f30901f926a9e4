/* Expansion: at most one reduction a stage, equal stages merged, unread ones dropped. */
#include "lang/build_int.h"

#include <assert.h>
#include <string.h>

/* ---- one reduction a stage ---- */

struct hoist {
    struct builder *builder;
    struct draft *draft; /* the stage at work */
    const struct expr *kept;
    struct draft *out; /* the new list */
    size_t count, capacity;
    size_t block_start; /* where the rec block at work begins in it */
    int *rec_of;        /* by tensor number: its rec block from 1 */
    size_t rec_capacity;
    unsigned made; /* Y.1, Y.2 ... */
    bool failed;
};

static void
emit_draft(struct hoist *hoist, const struct draft *draft, size_t at)
{
    if (hoist->count == hoist->capacity) {
        hoist->capacity = hoist->capacity ? 2 * hoist->capacity : 64;
        hoist->out = arena_grow(hoist->builder->arena, hoist->out, hoist->count, hoist->capacity,
                                sizeof *hoist->out);
    }
    memmove(&hoist->out[at + 1], &hoist->out[at], (hoist->count - at) * sizeof *hoist->out);
    hoist->out[at] = *draft;
    hoist->count++;
}

/* The first reduction, in reading order and outside others, that uses all left indices. */
static const struct expr *
find_kept(struct builder *b, const struct expr *e, uint32_t left)
{
    if (b->stamps[e->id] == b->stamp)
        return NULL;
    b->stamps[e->id] = b->stamp;
    if (e->op == OP_REDUCE)
        return (e->free & left) == left ? e : NULL;
    for (unsigned i = 0; i < e->count; i++) {
        const struct expr *found = find_kept(b, e->args[i], left);
        if (found != NULL)
            return found;
    }
    return NULL;
}

/* Moves a node to the levels of a new stage: rewrite->replace says where each one goes. */
static const struct expr *
relevel(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    if (e->op != OP_CAT)
        return ir_with_args(rewrite->ir, e, args);
    struct binder *binder = arena_alloc(ir_arena(rewrite->ir), sizeof *binder);
    *binder = *e->binder;
    if (rewrite->replace[binder->level] != NULL)
        binder->level = rewrite->replace[binder->level]->level;
    return ir_cat(rewrite->ir, binder, args);
}

static void
report_rank(struct hoist *hoist)
{
    diags_add(hoist->builder->diags, DIAG_ERROR, hoist->draft->place,
              "a reduction inside %s uses more than %d indices from around it; split the stage",
              hoist->draft->stage.tensor->name, LANG_MAX_RANK);
    hoist->failed = true;
}

/* ---- rec blocks: a reduction belongs to the block only if it reads one of its tensors ---- */

static void
note_rec(struct hoist *hoist, const struct stage *stage)
{
    size_t number = stage->tensor->number;
    if (number >= hoist->rec_capacity) {
        size_t capacity = 2 * (number + 64);
        hoist->rec_of = arena_grow(hoist->builder->arena, hoist->rec_of, hoist->rec_capacity,
                                   capacity, sizeof *hoist->rec_of);
        hoist->rec_capacity = capacity;
    }
    hoist->rec_of[number] = stage->rec + 1;
}

static bool
reads_block(struct hoist *hoist, const struct expr *e, int rec)
{
    struct builder *b = hoist->builder;
    if (b->stamps[e->id] == b->stamp)
        return false;
    b->stamps[e->id] = b->stamp;
    if (e->op == OP_LOAD && e->tensor->number < hoist->rec_capacity &&
        hoist->rec_of[e->tensor->number] == rec + 1)
        return true;
    for (unsigned i = 0; i < e->count; i++)
        if (reads_block(hoist, e->args[i], rec))
            return true;
    return false;
}

/* ---- the new stages ---- */

/* Gives the stage one left index for each level that `node` uses; subs[] reads it back. */
static bool
open_hoisted(struct rewrite *rewrite, const struct expr *node, struct draft *draft,
             struct rewrite *move, const struct expr **subs)
{
    struct hoist *hoist = rewrite->context;
    struct ir *ir = hoist->builder->ir;
    struct tensor *tensor = draft->stage.tensor;
    unsigned rank = 0;
    tensor->count = 1;
    for (unsigned level = 0; level < LANG_MAX_LEVELS; level++) {
        if (!(node->free >> level & 1))
            continue;
        if (level == hoist->draft->stage.carried)
            draft->stage.carried = rank;
        subs[rank] = ir_index(ir, level);
        move->replace[level] = ir_index(ir, rank);
        move->levels[rank] = rewrite->levels[level];
        draft->stage.index[rank] = rewrite->levels[level].name;
        tensor->extent[rank] = rewrite->levels[level].extent;
        tensor->size[rank] = expr_integer(tensor->extent[rank]);
        if (__builtin_mul_overflow(tensor->count, tensor->size[rank], &tensor->count))
            return false;
        rank++;
    }
    return true;
}

/* The reduction with its indices moved to the levels after the left ones. */
static const struct expr *
moved_reduction(struct rewrite *move, const struct expr *node, unsigned rank)
{
    struct binder *binder = arena_alloc(ir_arena(move->ir), sizeof *binder);
    *binder = *node->binder;
    binder->level = rank;
    for (unsigned i = 0; i < binder->count; i++)
        move->replace[node->binder->level + i] = ir_index(move->ir, rank + i);
    const struct expr *body = ir_rewrite(move, node->args[0]);
    const struct expr *filter = node->count > 1 ? ir_rewrite(move, node->args[1]) : NULL;
    return ir_reduce(move->ir, binder, body, filter);
}

/* The stage that computes reduction `e`, over the indices from around it that it uses. */
static const struct expr *
hoist_reduction(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    struct hoist *hoist = rewrite->context;
    struct builder *b = hoist->builder;
    const struct stage *around = &hoist->draft->stage;
    const struct expr *node = ir_reduce(b->ir, e->binder, args[0], e->count > 1 ? args[1] : NULL);
    const struct expr *subs[LANG_MAX_LEVELS];
    struct rewrite move = {.ir = b->ir, .leave = relevel};
    struct draft draft = {.place = hoist->draft->place, .stage.rec = -1};
    unsigned rank = (unsigned)__builtin_popcount(node->free);
    if (rank > LANG_MAX_RANK) {
        report_rank(hoist);
        return node;
    }
    const char *name = arena_printf(b->arena, "%s.%u", around->tensor->name, ++hoist->made);
    struct tensor *tensor = new_tensor(b, name, dtype_of_kind(node->kind), rank);
    draft.stage.tensor = tensor;
    if (!open_hoisted(rewrite, node, &draft, &move, subs)) {
        report_rank(hoist);
        return node;
    }
    draft.stage.value = moved_reduction(&move, node, rank);
    if (node->kind <= KIND_INT)
        expr_value_interval(node, rewrite->levels, &tensor->low, &tensor->high);
    new_stamp(b);
    if (around->rec >= 0 && reads_block(hoist, node, around->rec))
        draft.stage.rec = around->rec;
    else
        draft.stage.carried = 0;
    note_rec(hoist, &draft.stage);
    bool before_block = around->rec >= 0 && draft.stage.rec < 0;
    emit_draft(hoist, &draft, before_block ? hoist->block_start++ : hoist->count);
    return ir_load(b->ir, tensor, node->kind, rank, subs, NULL);
}

static const struct expr *
leave_hoisting(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    struct hoist *hoist = rewrite->context;
    if (e->op == OP_REDUCE && (e != hoist->kept || rewrite->depth > 0))
        return hoist_reduction(rewrite, e, args);
    return ir_with_args(rewrite->ir, e, args);
}

static void
hoist_stage(struct hoist *hoist, struct draft *draft)
{
    struct stage *stage = &draft->stage;
    struct rewrite rewrite = {.ir = hoist->builder->ir, .leave = leave_hoisting, .context = hoist};
    hoist->draft = draft;
    hoist->made = 0;
    new_stamp(hoist->builder);
    hoist->kept = find_kept(hoist->builder, stage->value, (1u << stage->tensor->rank) - 1);
    for (unsigned i = 0; i < stage->tensor->rank; i++)
        rewrite.levels[i] = (struct level){stage->tensor->extent[i], stage->index[i], 0,
                                           stage->tensor->size[i] - 1};
    stage->value = ir_rewrite(&rewrite, stage->value);
    emit_draft(hoist, draft, hoist->count);
}

static bool
hoist_all(struct builder *b)
{
    struct hoist hoist = {.builder = b};
    int rec = -1;
    for (size_t i = 0; i < b->draft_count; i++)
        note_rec(&hoist, &b->drafts[i].stage);
    for (size_t i = 0; i < b->draft_count; i++) {
        if (b->drafts[i].stage.rec != rec) {
            rec = b->drafts[i].stage.rec;
            hoist.block_start = hoist.count;
        }
        hoist_stage(&hoist, &b->drafts[i]);
    }
    b->drafts = hoist.out;
    b->draft_count = hoist.count;
    b->draft_capacity = hoist.capacity;
    return !hoist.failed;
}

/* ---- equal stages ---- */

struct merge {
    struct builder *builder;
    struct tensor **instead; /* by tensor number, or NULL */
    struct tensor **outputs;
    size_t output_count;
};

static const struct expr *
leave_merging(struct rewrite *rewrite, const struct expr *e, const struct expr *const *args)
{
    struct merge *merge = rewrite->context;
    if (e->op != OP_LOAD || merge->instead[e->tensor->number] == NULL)
        return ir_with_args(rewrite->ir, e, args);
    struct tensor *tensor = merge->instead[e->tensor->number];
    return ir_load(rewrite->ir, tensor, dtype_info[tensor->dtype].kind, tensor->rank, args,
                   e->count > tensor->rank ? args[tensor->rank] : NULL);
}

static bool
is_output(const struct tensor *tensor, struct tensor *const *outputs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (outputs[i] == tensor)
            return true;
    return false;
}

static bool
same_shape(const struct tensor *a, const struct tensor *b)
{
    bool same = a->dtype == b->dtype && a->rank == b->rank;
    for (unsigned i = 0; i < a->rank && same; i++)
        same = a->extent[i] == b->extent[i];
    return same;
}

static bool
same_stage(const struct stage *a, const struct stage *b)
{
    return a->value == b->value && same_shape(a->tensor, b->tensor);
}

/* Stages by their value: a table of numbers from 1 into the drafts. */
struct table {
    uint32_t *slots;
    size_t capacity;
};

static uint32_t *
find_same(const struct table *table, const struct draft *drafts, const struct draft *draft)
{
    size_t slot = draft->stage.value->id * 2654435761u & (table->capacity - 1);
    while (table->slots[slot] != 0 &&
           !same_stage(&drafts[table->slots[slot] - 1].stage, &draft->stage))
        slot = (slot + 1) & (table->capacity - 1);
    return &table->slots[slot];
}

/* `later` equals `earlier`: it goes. */
static void
merge_into(struct merge *merge, struct draft *earlier, const struct draft *later)
{
    struct tensor *kept = earlier->stage.tensor, *gone = later->stage.tensor;
    if (is_output(gone, merge->outputs, merge->output_count)) {
        kept->name = gone->name;
        memcpy(earlier->stage.index, later->stage.index, sizeof later->stage.index);
        for (size_t i = 0; i < merge->output_count; i++)
            if (merge->outputs[i] == gone)
                merge->outputs[i] = kept;
    }
    earlier->by_author |= later->by_author;
    merge->instead[gone->number] = kept;
}

/* Two outputs that are equal are both written. */
static bool
may_merge(const struct merge *merge, const struct draft *earlier, const struct draft *later)
{
    return !is_output(earlier->stage.tensor, merge->outputs, merge->output_count) ||
           !is_output(later->stage.tensor, merge->outputs, merge->output_count);
}

static const struct expr *
merged_value(struct merge *merge, const struct stage *stage)
{
    struct rewrite rewrite = {.ir = merge->builder->ir, .leave = leave_merging, .context = merge};
    set_levels(rewrite.levels, stage->tensor, stage->index);
    return ir_rewrite(&rewrite, stage->value);
}

/* Whether the block at `later` is that at `earlier` once its own tensors are exchanged. */
static bool
same_block(struct merge *merge, const struct draft *earlier, const struct draft *later,
           size_t count)
{
    bool same = true;
    for (size_t i = 0; i < count; i++) {
        same &= may_merge(merge, &earlier[i], &later[i]) &&
                earlier[i].stage.carried == later[i].stage.carried &&
                same_shape(earlier[i].stage.tensor, later[i].stage.tensor);
        merge->instead[later[i].stage.tensor->number] = earlier[i].stage.tensor;
    }
    for (size_t i = 0; i < count && same; i++) {
        struct stage exchanged = later[i].stage;
        exchanged.value = merged_value(merge, &later[i].stage);
        same = same_stage(&earlier[i].stage, &exchanged);
    }
    for (size_t i = 0; i < count; i++)
        merge->instead[later[i].stage.tensor->number] = NULL;
    return same;
}

static size_t
block_length(const struct draft *drafts, size_t count)
{
    size_t length = 1;
    while (length < count && drafts[length].stage.rec == drafts[0].stage.rec)
        length++;
    return length;
}

/* Drops a rec block that stands among the kept ones already. */
static bool
merge_block(struct merge *merge, size_t kept, const struct draft *later, size_t count)
{
    struct draft *drafts = merge->builder->drafts;
    for (size_t i = 0; i + count <= kept;) {
        size_t length = drafts[i].stage.rec < 0 ? 1 : block_length(&drafts[i], kept - i);
        if (drafts[i].stage.rec >= 0 && length == count &&
            same_block(merge, &drafts[i], later, count)) {
            for (size_t j = 0; j < count; j++)
                merge_into(merge, &drafts[i + j], &later[j]);
            return true;
        }
        i += length;
    }
    return false;
}

static bool
merge_stage(struct merge *merge, struct table *table, size_t kept, const struct draft *later)
{
    struct draft *drafts = merge->builder->drafts;
    uint32_t *slot = find_same(table, drafts, later);
    if (*slot == 0) {
        *slot = (uint32_t)kept + 1;
        return false;
    }
    if (!may_merge(merge, &drafts[*slot - 1], later))
        return false;
    merge_into(merge, &drafts[*slot - 1], later);
    return true;
}

static void
merge_equal(struct builder *b, struct tensor **outputs, size_t output_count)
{
    struct merge merge = {.builder = b, .outputs = outputs, .output_count = output_count};
    struct table table = {NULL, 64};
    size_t kept = 0, length;
    merge.instead = arena_array(b->arena, b->tensor_count, sizeof *merge.instead);
    while (table.capacity < 2 * b->draft_count)
        table.capacity *= 2;
    table.slots = arena_array(b->arena, table.capacity, sizeof *table.slots);
    for (size_t i = 0; i < b->draft_count; i += length) {
        bool block = b->drafts[i].stage.rec >= 0;
        length = block ? block_length(&b->drafts[i], b->draft_count - i) : 1;
        for (size_t j = i; j < i + length; j++)
            b->drafts[j].stage.value = merged_value(&merge, &b->drafts[j].stage);
        if (block ? merge_block(&merge, kept, &b->drafts[i], length)
                  : merge_stage(&merge, &table, kept, &b->drafts[i]))
            continue;
        memmove(&b->drafts[kept], &b->drafts[i], length * sizeof *b->drafts);
        kept += length;
    }
    b->draft_count = kept;
}

/* ---- unread stages ---- */

struct reach {
    struct builder *builder;
    size_t *draft_of; /* by tensor number: draft number from 1 */
    bool *read;       /* by tensor number */
    size_t *stack;    /* tensor numbers to follow */
    size_t depth;
};

static void
reach_tensor(struct reach *reach, const struct tensor *tensor)
{
    if (reach->read[tensor->number])
        return;
    reach->read[tensor->number] = true;
    reach->stack[reach->depth++] = tensor->number;
}

static void
reach_expr(struct reach *reach, const struct expr *e)
{
    struct builder *b = reach->builder;
    if (b->stamps[e->id] == b->stamp)
        return;
    b->stamps[e->id] = b->stamp;
    if (e->op == OP_LOAD)
        reach_tensor(reach, e->tensor);
    for (unsigned i = 0; i < e->count; i++)
        reach_expr(reach, e->args[i]);
}

static void
warn_unread(struct builder *b, const struct draft *draft)
{
    diags_add(b->diags, DIAG_WARNING, draft->place,
              "%s is never read and dropped; remove it, or add it to out",
              draft->stage.tensor->name);
}

static void
drop_unread(struct builder *b, struct tensor *const *outputs, size_t output_count, bool warn)
{
    struct reach reach = {.builder = b};
    reach.draft_of = arena_array(b->arena, b->tensor_count, sizeof *reach.draft_of);
    reach.read = arena_array(b->arena, b->tensor_count, sizeof *reach.read);
    reach.stack = arena_array(b->arena, b->tensor_count, sizeof *reach.stack);
    for (size_t i = 0; i < b->draft_count; i++)
        reach.draft_of[b->drafts[i].stage.tensor->number] = i + 1;
    new_stamp(b);
    for (size_t i = 0; i < output_count; i++)
        reach_tensor(&reach, outputs[i]);
    while (reach.depth > 0) {
        size_t draft = reach.draft_of[reach.stack[--reach.depth]];
        if (draft > 0)
            reach_expr(&reach, b->drafts[draft - 1].stage.value);
    }
    size_t kept = 0;
    for (size_t i = 0; i < b->draft_count; i++) {
        if (reach.read[b->drafts[i].stage.tensor->number])
            b->drafts[kept++] = b->drafts[i];
        else if (warn && b->drafts[i].by_author)
            warn_unread(b, &b->drafts[i]);
    }
    b->draft_count = kept;
    for (size_t i = 0; i < b->input_count && warn; i++)
        if (!reach.read[b->tensors[i]->number])
            diags_add(b->diags, DIAG_WARNING, b->input_places[i],
                      "input %s is never read; remove it, or use it", b->tensors[i]->name);
}

bool
expand(struct builder *b, struct tensor **outputs, size_t output_count, bool warn)
{
    if (!hoist_all(b))
        return false;
    merge_equal(b, outputs, output_count);
    drop_unread(b, outputs, output_count, warn);
    return true;
}
